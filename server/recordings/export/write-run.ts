import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  CustomSource,
  EncodedAudioPacketSource,
  type EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathTarget,
  Input,
  type InputAudioTrack,
  type InputVideoTrack,
  MATROSKA,
  MP4,
  Mp4OutputFormat,
  Output,
  WEBM,
  WebMOutputFormat,
} from 'mediabunny'
import type { OwnPath } from '../../../shared/files/own-path.ts'
import type { ByteSource } from '../playback/byte-source.ts'
import { offsetsOf, type SourcePiece, type SourceRun } from './export-span.ts'

export interface WriteOptions {
  container: 'mp4' | 'webm'
  keepGaps: boolean
  signal?: AbortSignal | undefined
  /** Receives the number of seconds written. */
  progress?: ((seconds: number) => void) | undefined
}

/** Milliseconds of work before yielding to the event loop. */
const turnMs = 4

type Kind = 'video' | 'audio'

/**
 * Maximum number of pictures decoded before a picture that is shown earlier (ITU-T H.264, section A.3.1:
 * max_dec_frame_buffering).
 */
const maxReordered = 16

interface Taken {
  kind: Kind
  /** Index of the packet's piece in the run. */
  position: number
  packet: EncodedPacket
  /** Time in the joined file, in seconds. */
  time: number
}

/**
 * Writes pieces of one format into an existing empty file without transcoding: MP4 with its index at the front, or
 * WebM.
 * @returns seconds of media time
 * @throws errors of the disk; AbortError
 */
export async function writeRun(run: SourceRun, path: OwnPath, options: WriteOptions): Promise<number> {
  const { container, signal } = options
  const format = container === 'mp4' ? new Mp4OutputFormat({ fastStart: 'reserve' }) : new WebMOutputFormat()
  const output = new Output({ format, target: new FilePathTarget(path) })
  const writers = await addTracks(output, run, options.keepGaps)
  await output.start()
  let end = 0
  let turnEnds = performance.now() + turnMs
  // The first packet of each track is written first: space for the index at the front is reserved when all tracks are
  // known.
  for (const writer of writers.values()) await writer.add(writer.first)
  try {
    for await (const taken of packetsOf(run, options.keepGaps)) {
      signal?.throwIfAborted()
      const { kind, packet, time } = taken
      const writer = writers.get(kind)
      if (writer === undefined || isRepeated(writer, taken)) continue
      writer.end = Math.max(writer.end, time)
      await writer.add(packet.clone({ timestamp: time }))
      end = Math.max(end, time + packet.duration)
      if (performance.now() < turnEnds) continue
      options.progress?.(end)
      await nextTurn()
      turnEnds = performance.now() + turnMs
    }
    await output.finalize()
  } catch (error) {
    // Only the first error is reported.
    await output.cancel().catch(() => {})
    throw error
  }
  return end
}

interface Writer {
  /** Packet that is written before all others. */
  first: EncodedPacket
  isFirst: boolean
  /** Latest time of the packets so far, in seconds. */
  end: number
  /** Index of the last packet's piece, and the latest time of the previous pieces, in seconds. */
  position: number
  before: number
  add(packet: EncodedPacket): Promise<void>
}

/**
 * Whether a packet overlaps an earlier piece in time or was already written first. Pictures arrive in decoding order,
 * so times within one piece may decrease.
 */
function isRepeated(writer: Writer, { kind, position, time }: Taken): boolean {
  if (writer.isFirst) {
    writer.isFirst = false
    writer.position = position
    return true
  }
  if (position !== writer.position) {
    writer.position = position
    writer.before = writer.end
  }
  return time <= (kind === 'audio' ? writer.end : writer.before)
}

function writerOf(taken: Omit<Taken, 'position'>, add: Writer['add']): Writer {
  const { packet, time } = taken
  return {
    first: packet.clone({ timestamp: time }),
    isFirst: true,
    end: time,
    position: -1,
    before: -1,
    add,
  }
}

async function addTracks(output: Output, run: SourceRun, keepGaps: boolean): Promise<Map<Kind, Writer>> {
  const offsets = offsetsOf(run, keepGaps)
  const writers = new Map<Kind, Writer>()
  for (const kind of ['video', 'audio'] as const) {
    const position = run.findIndex((piece) => has(piece, kind))
    const piece = run[position]
    const count = run.reduce((sum, one) => sum + (kind === 'video' ? one.pictures : one.sounds), 0) + 1
    if (piece !== undefined) await addTrack(output, kind, piece, offsets[position] ?? 0, count, writers)
  }
  return writers
}

async function addTrack(
  output: Output,
  kind: Kind,
  piece: SourcePiece,
  offset: number,
  maximumPacketCount: number,
  writers: Map<Kind, Writer>,
): Promise<void> {
  const input = await SegmentInput.open(piece.open, piece.bytes)
  try {
    for await (const taken of packetsOfTrack(input, kind, piece, offset)) {
      if (kind === 'video' && input.video !== null) {
        const codec = await input.video.getCodec()
        const decoderConfig = await input.video.getDecoderConfig()
        if (codec === null || decoderConfig === null) return
        const source = new EncodedVideoPacketSource(codec)
        output.addVideoTrack(source, { maximumPacketCount })
        writers.set(
          kind,
          writerOf(taken, (packet) => source.add(packet, { decoderConfig })),
        )
      } else if (kind === 'audio' && input.audio !== null) {
        const codec = await input.audio.getCodec()
        const decoderConfig = await input.audio.getDecoderConfig()
        if (codec === null || decoderConfig === null) return
        const source = new EncodedAudioPacketSource(codec)
        output.addAudioTrack(source, { maximumPacketCount })
        writers.set(
          kind,
          writerOf(taken, (packet) => source.add(packet, { decoderConfig })),
        )
      }
      return
    }
  } finally {
    await input.close()
  }
}

function has(piece: SourcePiece, kind: Kind): boolean {
  return (kind === 'video' ? piece.videoFormat : piece.audioFormat) !== ''
}

/** Yields the packets of all pieces, with pictures and sounds interleaved. */
async function* packetsOf(run: SourceRun, keepGaps: boolean): AsyncGenerator<Taken> {
  const offsets = offsetsOf(run, keepGaps)
  for (const [position, piece] of run.entries()) {
    const input = await SegmentInput.open(piece.open, piece.bytes)
    const offset = offsets[position] ?? 0
    try {
      const pictures = packetsOfTrack(input, 'video', piece, offset)
      const sounds = packetsOfTrack(input, 'audio', piece, offset)
      for await (const taken of merged(pictures, sounds)) yield { ...taken, position }
    } finally {
      await input.close()
    }
  }
}

async function* packetsOfTrack(
  input: SegmentInput,
  kind: Kind,
  piece: SourcePiece,
  offset: number,
): AsyncGenerator<Omit<Taken, 'position'>> {
  const { from, to } = piece
  /** Pictures after the end that earlier pictures may depend on: decoding order differs from presentation order. */
  let behind: Omit<Taken, 'position'>[] = []
  const track = kind === 'video' ? input.video : input.audio
  if (track === null || !has(piece, kind)) return
  for await (const packet of input.packets(track, from)) {
    const taken = { kind, packet, time: Math.max(0, packet.timestamp - from) + offset }
    if (packet.timestamp >= to) {
      behind.push(taken)
      if (kind === 'audio' || packet.type === 'key' || behind.length > maxReordered) return
      continue
    }
    yield* behind
    behind = []
    // Sound before the first picture is omitted.
    if (packet.timestamp >= from - 0.001) yield taken
  }
}

async function* merged<T extends { time: number }>(
  one: AsyncGenerator<T>,
  other: AsyncGenerator<T>,
): AsyncGenerator<T> {
  let [left, right] = [await one.next(), await other.next()]
  while (left.done !== true || right.done !== true) {
    if (right.done === true || (left.done !== true && left.value.time <= right.value.time)) {
      if (left.done !== true) yield left.value
      left = await one.next()
    } else {
      yield right.value
      right = await other.next()
    }
  }
}

/** Media file read for an export. */
class SegmentInput {
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
