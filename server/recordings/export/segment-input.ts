import {
  CustomSource,
  type EncodedPacket,
  EncodedPacketSink,
  Input,
  type InputAudioTrack,
  type InputVideoTrack,
  MATROSKA,
  MP4,
  WEBM,
} from 'mediabunny'
import type { ByteSource } from '../playback/byte-source.ts'

/** Media file read for an export. */
export class SegmentInput {
  readonly #file: ByteSource
  readonly #input: Input
  readonly video: InputVideoTrack | null
  readonly audio: InputAudioTrack | null

  private constructor(file: ByteSource, input: Input, video: InputVideoTrack | null, audio: InputAudioTrack | null) {
    this.#file = file
    this.#input = input
    this.video = video
    this.audio = audio
  }

  /**
   * @param bytes number of readable bytes: in a growing file, up to the end of its last complete fragment
   * @throws if the file cannot be read
   */
  static async open(open: () => Promise<ByteSource>, bytes: number): Promise<SegmentInput> {
    const file = await open()
    try {
      const source = new CustomSource({
        getSize: () => bytes,
        read: async (start, end) => {
          const buffer = new Uint8Array(end - start)
          const { bytesRead } = await file.read(buffer, 0, buffer.length, start)
          return buffer.subarray(0, bytesRead)
        },
        prefetchProfile: 'fileSystem',
      })
      const input = new Input({ source, formats: [MP4, WEBM, MATROSKA] })
      const video = await input.getPrimaryVideoTrack()
      return new SegmentInput(file, input, video, await input.getPrimaryAudioTrack())
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /**
   * Yields the packets of a track in decoding order, from the key packet at or before `from`.
   * @param from seconds of media time
   */
  async *packets(track: InputVideoTrack | InputAudioTrack, from: number): AsyncGenerator<EncodedPacket> {
    const sink = new EncodedPacketSink(track)
    const first = (await sink.getKeyPacket(from)) ?? (await sink.getFirstPacket())
    if (first !== null) yield* sink.packets(first)
  }

  async close(): Promise<void> {
    this.#input.dispose()
    await this.#file.close()
  }
}
