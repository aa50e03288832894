import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type EncodedPacket,
  EncodedAudioPacketSource,
  EncodedVideoPacketSource,
  FilePathTarget,
  Mp4OutputFormat,
  Output,
  WebMOutputFormat,
} from 'mediabunny'
import type { OwnPath } from '../../../shared/files/own-path.ts'
import { offsetsOf, type SourcePiece, type SourceRun } from './export-span.ts'
import { SegmentInput } from './segment-input.ts'

/** Options of a written run. */
export interface WriteOptions {
  container: 'mp4' | 'webm'
  keepGaps: boolean
  signal?: AbortSignal | undefined
  /** Called with the seconds that are written. */
  progress?: ((seconds: number) => void) | undefined
}

/** Milliseconds of work after which others get a turn of the event loop. */
const turnMs = 4

type Kind = 'video' | 'audio'

interface Taken {
  kind: Kind
  packet: EncodedPacket
  /** In the joined file, in seconds. */
  time: number
}

/**
 * Writes pieces of one format into a reserved file without transcoding: MP4 with its index in front, or WebM.
 * @returns seconds of media time
 * @throws what the disk says; AbortError
 */
export async function writeRun(run: SourceRun, path: OwnPath, options: WriteOptions): Promise<number> {
  const { container, signal } = options
  const format = container === 'mp4' ? new Mp4OutputFormat({ fastStart: 'reserve' }) : new WebMOutputFormat()
  const output = new Output({ format, target: new FilePathTarget(path) })
  const writers = await addTracks(output, run, options.keepGaps)
  await output.start()
  let end = 0
  let turnEnds = performance.now() + turnMs
  // The index in front has its place reserved once every track is known: its first packet comes first.
  for (const writer of writers.values()) await writer.add(writer.first)
  try {
    for await (const { kind, packet, time } of packetsOf(run, options.keepGaps)) {
      signal?.throwIfAborted()
      const writer = writers.get(kind)
      if (writer === undefined || time <= writer.last) continue
      writer.last = time
      await writer.add(packet.clone({ timestamp: time }))
      end = Math.max(end, time + packet.duration)
      if (performance.now() < turnEnds) continue
      options.progress?.(end)
      await nextTurn()
      turnEnds = performance.now() + turnMs
    }
    await output.finalize()
  } catch (error) {
    // The first error is reported.
    await output.cancel().catch(() => {})
    throw error
  }
  return end
}

interface Writer {
  first: EncodedPacket
  /** Time of the last packet; a packet that is not later is a repetition at the seam of two pieces. */
  last: number
  add(packet: EncodedPacket): Promise<void>
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
      const first = taken.packet.clone({ timestamp: taken.time })
      if (kind === 'video' && input.video !== null) {
        const codec = await input.video.getCodec()
        const decoderConfig = await input.video.getDecoderConfig()
        if (codec === null || decoderConfig === null) return
        const source = new EncodedVideoPacketSource(codec)
        output.addVideoTrack(source, { maximumPacketCount })
        writers.set(kind, { first, last: taken.time, add: (packet) => source.add(packet, { decoderConfig }) })
      } else if (kind === 'audio' && input.audio !== null) {
        const codec = await input.audio.getCodec()
        const decoderConfig = await input.audio.getDecoderConfig()
        if (codec === null || decoderConfig === null) return
        const source = new EncodedAudioPacketSource(codec)
        output.addAudioTrack(source, { maximumPacketCount })
        writers.set(kind, { first, last: taken.time, add: (packet) => source.add(packet, { decoderConfig }) })
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

/** Packets of all pieces, pictures and sounds in turns. */
async function* packetsOf(run: SourceRun, keepGaps: boolean): AsyncGenerator<Taken> {
  const offsets = offsetsOf(run, keepGaps)
  for (const [position, piece] of run.entries()) {
    const input = await SegmentInput.open(piece.open, piece.bytes)
    const offset = offsets[position] ?? 0
    try {
      const pictures = packetsOfTrack(input, 'video', piece, offset)
      yield* merged(pictures, packetsOfTrack(input, 'audio', piece, offset))
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
): AsyncGenerator<Taken> {
  const { from, to } = piece
  const track = kind === 'video' ? input.video : input.audio
  if (track === null || !has(piece, kind)) return
  for await (const packet of input.packets(track, from)) {
    if (packet.timestamp >= to) return
    // Sound before the first picture is left out.
    if (packet.timestamp >= from - 0.001) yield { kind, packet, time: Math.max(0, packet.timestamp - from) + offset }
  }
}

async function* merged(one: AsyncGenerator<Taken>, other: AsyncGenerator<Taken>): AsyncGenerator<Taken> {
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
