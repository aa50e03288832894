import { smallPicture } from './small-picture.ts'

/** An H.264 picture that can be decoded by itself. */
interface KeyFrame {
  /** Annex B form of H.264: each NAL unit after a start code of four bytes, including the parameter sets. */
  frame: Uint8Array
  /** In pixels. */
  width: number
  height: number
}

/** Size of a thumbnail in pixels: twice its display size, for high-density screens. */
const thumbnailWidth = 320

/**
 * Makes a small JPEG of a picture, as a data URL.
 * @throws Error if the picture lacks its parameter sets, or the browser cannot decode it
 */
export async function thumbnail(picture: KeyFrame): Promise<string> {
  return await smallPicture(await filmOf(picture), thumbnailWidth)
}

/** Makes a video file of one picture: every browser decodes it, even on pages without a secure context. */
async function filmOf({ frame, width, height }: KeyFrame): Promise<Blob> {
  // Loaded with the first picture, because few pages show one.
  const { BufferTarget, EncodedPacket, EncodedVideoPacketSource, Mp4OutputFormat, Output } = await import('mediabunny')
  const target = new BufferTarget()
  const output = new Output({ format: new Mp4OutputFormat(), target })
  const track = new EncodedVideoPacketSource('avc')
  output.addVideoTrack(track)
  await output.start()
  // The file's profile and level are those of the parameter sets; the name of the codec is only checked.
  const decoderConfig = { codec: 'avc1.42001f', codedWidth: width, codedHeight: height }
  await track.add(new EncodedPacket(frame, 'key', 0, 1), { decoderConfig })
  await output.finalize()
  return new Blob([target.buffer ?? ''], { type: 'video/mp4' })
}
