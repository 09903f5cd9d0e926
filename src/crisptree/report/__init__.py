"""One page about a policy that a reviewer can sign: training, scores, tree, proofs, exports."""

from crisptree.report.gather import Request as Request
from crisptree.report.gather import gathered as gathered
from crisptree.report.gather import requested as requested
from crisptree.report.page import as_page as as_page
from crisptree.report.pdf import as_pdf as as_pdf
from crisptree.report.pdf import check_suffix as check_suffix
from crisptree.report.pdf import in_file as in_file
from crisptree.report.review import Review as Review
