import type { Writable } from 'node:stream'
import type {
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  InputAudioTrack,
  InputVideoTrack,
  Output,
} from 'mediabunny'
import { writeToProgram } from './ffmpeg-run.ts'

/** Thrown if the codec or its configuration differs from the first fragment. */
export class FormatChangedError extends Error {
  override readonly name = 'FormatChangedError'
}

/** Tracks that a feed writes. */
export interface FeedTracks {
  picture: boolean
  sound: boolean
}

type Sources = {
  output: Output
  picture?: EncodedVideoPacketSource
  sound?: EncodedAudioPacketSource
  format: string
}

/**
 * Writes fragments of recordings as one Matroska stream with continuous time, for a program that reads its standard
 * input.
 */
export class PushFeed {
  readonly #sink: Writable
  readonly #wanted: FeedTracks
  #sources: Sources | undefined
  /** Wall-clock time of stream time 0, in seconds since the epoch. */
  #base = 0

  constructor(sink: Writable, wanted: FeedTracks) {
    this.#sink = sink
    this.#wanted = wanted
  }

  /** Wall-clock time of stream time 0, in seconds since the epoch; undefined: nothing was added. */
  get startedAt(): number | undefined {
    return this.#sources && this.#base
  }

  /**
   * Adds a fragment.
   * @param bytes init and one fragment
   * @param startedAt time of media time 0 in this fragment's segment, in seconds since the epoch
   * @throws FormatChangedError; Error if the reader has ended or is stuck, or the bytes are not media
   */
  async add(bytes: Uint8Array, startedAt: number): Promise<void> {
    const { ALL_FORMATS, BufferSource, Input } = await import('mediabunny')
    const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS })
    try {
      const picture = this.#wanted.picture ? await input.getPrimaryVideoTrack() : null
      const sound = this.#wanted.sound ? await input.getPrimaryAudioTrack() : null
      const format = await formatOf(picture, sound)
      if (this.#sources === undefined) {
        this.#sources = await this.#begin(picture, sound, format)
        this.#base = startedAt + (await firstTime(picture ?? sound))
      }
      if (this.#sources.format !== format) throw new FormatChangedError('the format of the stream changed')
      await this.#pass(picture, sound, startedAt - this.#base)
    } finally {
      input.dispose()
    }
  }

  async end(): Promise<void> {
    // ffmpeg may have ended already: the reader of its output reports the reason.
    await this.#sources?.output.finalize().catch(() => {})
    this.#sink.end()
  }

  async #begin(picture: InputVideoTrack | null, sound: InputAudioTrack | null, format: string): Promise<Sources> {
    const { AppendOnlyStreamTarget, EncodedAudioPacketSource, EncodedVideoPacketSource, MkvOutputFormat, Output } =
      await import('mediabunny')
    const writable = new WritableStream<Uint8Array>({ write: (chunk) => writeToProgram(this.#sink, chunk) })
    const output = new Output({
      format: new MkvOutputFormat({ appendOnly: true, minimumClusterDuration: 0.2 }),
      target: new AppendOnlyStreamTarget(writable),
    })
    const sources: Sources = { output, format }
    const [videoCodec, audioCodec] = [await picture?.getCodec(), await sound?.getCodec()]
    if (videoCodec) {
      sources.picture = new EncodedVideoPacketSource(videoCodec)
      output.addVideoTrack(sources.picture)
    }
    if (audioCodec) {
      sources.sound = new EncodedAudioPacketSource(audioCodec)
      output.addAudioTrack(sources.sound)
    }
    await output.start()
    return sources
  }

  /** Writes the packets of both tracks in the order of their times, because a muxer waits for the slower track. */
  async #pass(picture: InputVideoTrack | null, sound: InputAudioTrack | null, shift: number): Promise<void> {
    const sources = this.#sources
    const [pictures, sounds] = [picture && packetsOf(picture), sound && packetsOf(sound)]
    const videoConfig = (await picture?.getDecoderConfig()) ?? undefined
    const audioConfig = (await sound?.getDecoderConfig()) ?? undefined
    let nextPicture = await pictures?.next()
    let nextSound = await sounds?.next()
    for (;;) {
      const image = nextPicture?.done === false ? nextPicture.value : undefined
      const tone = nextSound?.done === false ? nextSound.value : undefined
      if (image === undefined && tone === undefined) return
      if (tone === undefined || (image !== undefined && image.timestamp <= tone.timestamp)) {
        if (image === undefined) return
        const packet = image.clone({ timestamp: Math.max(0, image.timestamp + shift) })
        await sources?.picture?.add(packet, { ...(videoConfig && { decoderConfig: videoConfig }) })
        nextPicture = await pictures?.next()
      } else {
        const packet = tone.clone({ timestamp: Math.max(0, tone.timestamp + shift) })
        await sources?.sound?.add(packet, { ...(audioConfig && { decoderConfig: audioConfig }) })
        nextSound = await sounds?.next()
      }
    }
  }
}

async function* packetsOf(track: InputVideoTrack | InputAudioTrack): AsyncGenerator<EncodedPacket> {
  const { EncodedPacketSink } = await import('mediabunny')
  yield* new EncodedPacketSink(track).packets()
}

async function firstTime(track: InputVideoTrack | InputAudioTrack | null): Promise<number> {
  return track === null ? 0 : await track.getFirstTimestamp()
}

/** Returns a text that identifies the format. A different text requires a new decoder. */
async function formatOf(picture: InputVideoTrack | null, sound: InputAudioTrack | null): Promise<string> {
  const config: object = (await picture?.getDecoderConfig()) ?? {}
  // This property is declared only in the DOM types, which this program does not include.
  const description: unknown = Reflect.get(config, 'description')
  const bytes = ArrayBuffer.isView(description)
    ? Buffer.from(description.buffer, description.byteOffset, description.byteLength)
    : Buffer.from(description instanceof ArrayBuffer ? new Uint8Array(description) : new Uint8Array())
  const width: unknown = Reflect.get(config, 'codedWidth')
  return JSON.stringify([await picture?.getCodec(), bytes.toString('base64'), width, await sound?.getCodec()])
}
