// Recorded pictures: frames of palette numbers, in chunks that are inflated when they are needed.
// A frame is stored as its difference (exclusive or) from the one before; a chunk starts anew.

class Video {
  constructor({ width, height, palette, chunks, length }) {
    Object.assign(this, { width, height, chunks, length });
    const colours = bytesOf(palette);
    this.colours = new Uint32Array(256);
    const opaque = new Uint8Array([0, 0, 0, 255]);
    for (let at = 0; at * 3 < colours.length; at++) {
      opaque.set(colours.subarray(at * 3, at * 3 + 3));
      this.colours[at] = new Uint32Array(opaque.buffer)[0];
    }
    this.ready = new Map();
  }

  /** The frames of one chunk; the few used last are kept. */
  async chunk(at) {
    if (!this.ready.has(at)) {
      const packed = bytesOf(this.chunks[at]);
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
      this.ready.set(at, new Response(stream).arrayBuffer().then((buffer) => this.undone(buffer)));
      if (this.ready.size > 4) this.ready.delete(this.ready.keys().next().value);
    }
    return this.ready.get(at);
  }

  undone(buffer) {
    const size = this.width * this.height;
    const frames = [];
    for (let start = 0; start < buffer.byteLength; start += size) {
      const frame = new Uint8Array(buffer, start, size);
      const before = frames[frames.length - 1];
      if (before) for (let at = 0; at < size; at++) frame[at] ^= before[at];
      frames.push(frame);
    }
    return frames;
  }

  async paint(context, at) {
    const frames = await this.chunk(Math.floor(at / data.chunk));
    const frame = frames[at % data.chunk];
    const image = context.createImageData(this.width, this.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let pixel = 0; pixel < frame.length; pixel++) pixels[pixel] = this.colours[frame[pixel]];
    context.putImageData(image, 0, 0);
  }
}
