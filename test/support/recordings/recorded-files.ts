import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  ALL_FORMATS,
  type EncodedPacket,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
  Input,
  type InputAudioTrack,
  type InputVideoTrack,
} from 'mediabunny'
import { segmentPath } from '../../../shared/recordings/segment-path.ts'
import type { RecordedStream, Segment, SegmentStart } from '../../../shared/recordings/segment.ts'
import { type Film, filmOf, smallFilm } from './film.ts'
import { openSegmentOutput } from './segment-output.ts'

/** A recording that is to be made of a film. */
export interface Recording extends Partial<RecordedStream> {
  /** Recordings folder. */
  folder: string
  film?: Partial<Film>
  /** Milliseconds since the epoch. */
  startedAt: number
  /** Length of a segment; it ends at the first key frame after that. */
  segmentSeconds?: number
  userName?: string
  device?: boolean
  /** Packets of the film that were recorded, by their time in seconds; left out: all. A kind without any has no track. */
  has?: (kind: 'picture' | 'sound', time: number) => boolean
  /** Left as it is while it is written, with its suffix: the last segment is not finished. */
  growing?: boolean
}

interface Packets {
  video: readonly EncodedPacket[]
  audio: readonly EncodedPacket[]
  videoTrack: InputVideoTrack | null
  audioTrack: InputAudioTrack | null
}

/** Writes the segments of a film as the recorder does: cut at key frames, fragmented MP4 or WebM, made by mediabunny. */
export async function record(recording: Recording): Promise<Segment[]> {
  const film = { ...smallFilm, ...recording.film }
  using input = new Input({ source: new FilePathSource(await filmOf(film)), formats: ALL_FORMATS })
  const packets = await packetsOf(input, recording.has ?? (() => true))
  const seconds = recording.segmentSeconds ?? 4
  const cuts = cutsOf(packets, seconds)
  const segments: Segment[] = []
  for (const [position, from] of cuts.entries()) {
    const to = cuts[position + 1] ?? Number.POSITIVE_INFINITY
    const last = position === cuts.length - 1
    segments.push(
      await writeSegment(recording, film, packets, { from, to, growing: last && recording.growing === true }),
    )
  }
  return segments
}

async function packetsOf(input: Input, has: (kind: 'picture' | 'sound', time: number) => boolean): Promise<Packets> {
  const videoTrack = await input.getPrimaryVideoTrack()
  const audioTrack = await input.getPrimaryAudioTrack()
  const all = async (track: InputVideoTrack | InputAudioTrack | null): Promise<EncodedPacket[]> => {
    const packets: EncodedPacket[] = []
    if (track !== null) for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet)
    return packets
  }
  const video = (await all(videoTrack)).filter(({ timestamp }) => has('picture', timestamp))
  const audio = (await all(audioTrack)).filter(({ timestamp }) => has('sound', timestamp))
  return {
    ...{ video, videoTrack: video.length > 0 ? videoTrack : null },
    ...{ audio, audioTrack: audio.length > 0 ? audioTrack : null },
  }
}

function cutsOf({ video, audio }: Packets, seconds: number): number[] {
  const cuts: number[] = [0]
  for (const { type, timestamp } of video.length > 0 ? video : audio)
    if (type === 'key' && timestamp - (cuts.at(-1) ?? 0) >= seconds) cuts.push(timestamp)
  return cuts
}

async function writeSegment(
  recording: Recording,
  film: Film,
  { video, audio, videoTrack, audioTrack }: Packets,
  { from, to, growing }: { from: number; to: number; growing: boolean },
): Promise<Segment> {
  const container = film.codec === 'vp8' ? 'webm' : 'mp4'
  const stream = { roomId: '1000', userId: 'camera', source: 'main', quality: 'main', ...streamOf(recording) } as const
  const startedAt = recording.startedAt + Math.round(from * 1_000)
  const start: SegmentStart = {
    ...stream,
    file: segmentPath(stream, startedAt, container),
    container,
    userName: recording.userName ?? 'Camera',
    topic: 'Room',
    device: recording.device ?? true,
    startedAt,
    senderStartedAt: null,
    videoCodec: (await videoTrack?.getCodecParameterString()) ?? '',
    audioCodec: (await audioTrack?.getCodecParameterString()) ?? '',
    width: videoTrack === null ? 0 : film.width,
    height: videoTrack === null ? 0 : film.height,
  }
  const { output, close } = await openSegmentOutput(recording.folder, start)
  const adders: { packet: EncodedPacket; add: (packet: EncodedPacket) => Promise<void> }[] = []
  const within = ({ timestamp }: EncodedPacket): boolean => timestamp >= from - 0.001 && timestamp < to - 0.001
  if (videoTrack !== null) {
    const codec = await videoTrack.getCodec()
    const decoderConfig = await videoTrack.getDecoderConfig()
    if (codec === null || decoderConfig === null) throw new Error('the film has no known video codec')
    const source = new EncodedVideoPacketSource(codec)
    output.addVideoTrack(source)
    const add = (packet: EncodedPacket): Promise<void> => source.add(packet, { decoderConfig })
    adders.push(...video.filter(within).map((packet) => ({ packet, add })))
  }
  if (audioTrack !== null) {
    const codec = await audioTrack.getCodec()
    const decoderConfig = await audioTrack.getDecoderConfig()
    if (codec === null || decoderConfig === null) throw new Error('the film has no known audio codec')
    const source = new EncodedAudioPacketSource(codec)
    output.addAudioTrack(source)
    const add = (packet: EncodedPacket): Promise<void> => source.add(packet, { decoderConfig })
    adders.push(...audio.filter(within).map((packet) => ({ packet, add })))
  }
  await output.start()
  adders.sort((one, other) => one.packet.timestamp - other.packet.timestamp)
  let end = 0
  for (const { packet, add } of adders) {
    const timestamp = Math.max(0, packet.timestamp - from)
    end = Math.max(end, timestamp + packet.duration)
    await add(packet.clone({ timestamp }))
  }
  const bytes = await close(growing)
  return { ...start, endedAt: startedAt + Math.round(end * 1_000), bytes, end: 'length' }
}

function streamOf({ roomId, userId, source, quality }: Partial<RecordedStream>): Partial<RecordedStream> {
  const given = Object.entries({ roomId, userId, source, quality }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given)
}

/** The file of the only segment of a user. */
export async function recordedFileOf(folder: string, user: string): Promise<string> {
  const names = await readdir(folder, { recursive: true })
  const name = names.find((one) => one.includes(Buffer.from(user).toString('base64url')) && one.endsWith('.mp4'))
  return join(folder, name ?? 'nothing')
}
