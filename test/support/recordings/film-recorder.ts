import { type Space, SpaceBudget } from '../../../server/recordings/disk-space.ts'
import { mkdir } from 'node:fs/promises'
import {
  ALL_FORMATS,
  type EncodedPacket,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
  Input,
  type Output,
} from 'mediabunny'
import { SegmentFiles } from '../../../server/recordings/playback/segment-sources.ts'
import { StoredIndex } from '../../../server/recordings/index/stored-index.ts'
import type { RecordingRequest, RecordingRequests } from '../../../server/recordings/recording-control.ts'
import { segmentPath } from '../../../shared/recordings/segment-path.ts'
import type { Segment, SegmentStart } from '../../../shared/recordings/segment.ts'
import { type Film, filmOf, smallFilm } from './film.ts'
import { openSegmentOutput } from './segment-output.ts'

/** Users whose film is recorded while somebody asks for it. */
export type FilmedUsers = Readonly<Record<string, Partial<Film>>>

interface Writing {
  stopped: AbortController
  done: Promise<void>
}

/**
 * Recorder of a site without media nodes: writes the films of its users at their own pace into segments, as the recorder of a node does, and keeps the real index. The films begin
 * again at their end.
 */
export class FilmRecorder implements RecordingRequests {
  readonly folder: string
  readonly segments: SegmentFiles
  readonly index: StoredIndex
  readonly requests = this
  readonly recovered = (): Promise<void> => Promise.resolve()
  /** Space of its disk, in bytes. */
  space: Space = { free: 1e12, capacity: 1e12, reserve: 0, margin: 0 }
  readonly budget = new SpaceBudget(() => Promise.resolve(this.space))
  /** Requests in force, by id. */
  readonly wanted = new Map<string, RecordingRequest>()
  readonly #users: Map<string, Partial<Film>>
  readonly #segmentMs: number
  readonly #writing = new Map<string, Writing>()

  private constructor(folder: string, users: FilmedUsers, segmentMs: number) {
    this.folder = folder
    this.segments = new SegmentFiles(folder)
    this.#users = new Map(Object.entries(users))
    this.#segmentMs = segmentMs
    this.index = new StoredIndex({ folder, kept: { covers: () => false }, onDamage: () => {} })
  }

  static async open(folder: string, users: FilmedUsers, segmentMs = 60_000): Promise<FilmRecorder> {
    await mkdir(folder, { recursive: true })
    for (const film of Object.values(users)) await filmOf({ ...smallFilm, ...film })
    return new FilmRecorder(folder, users, segmentMs)
  }

  check(): void {}

  put(request: RecordingRequest): void {
    this.wanted.set(request.id, request)
    this.#update()
  }

  remove(id: string): void {
    this.wanted.delete(id)
    this.#update()
  }

  /** Somebody comes into the room. */
  async come(userId: string, film: Partial<Film>): Promise<void> {
    await filmOf({ ...smallFilm, ...film })
    this.#users.set(userId, film)
    this.#update()
  }

  /** Somebody leaves. */
  leave(userId: string): void {
    this.#users.delete(userId)
    this.#update()
  }

  async close(): Promise<void> {
    this.wanted.clear()
    this.#update()
    await Promise.all(Array.from(this.#writing.values(), ({ done }) => done))
    this.index.close()
  }

  #update(): void {
    const wishes = [...this.wanted.values()]
    const streams = wishes.flatMap(({ roomId, userId }) =>
      [...this.#users.keys()]
        .filter((user) => userId === undefined || user === userId)
        .map((user) => JSON.stringify([roomId, user])),
    )
    for (const key of streams) if (!this.#writing.has(key)) this.#begin(key)
    for (const [key, { stopped }] of this.#writing) if (!streams.includes(key)) stopped.abort()
  }

  #begin(key: string): void {
    const [roomId, userId] = JSON.parse(key) as [string, string]
    const stopped = new AbortController()
    const done = this.#record(roomId, userId, stopped.signal).finally(() => {
      this.#writing.delete(key)
      this.#update()
    })
    this.#writing.set(key, { stopped, done })
  }

  async #record(roomId: string, userId: string, stopped: AbortSignal): Promise<void> {
    const film = { ...smallFilm, ...this.#users.get(userId) }
    const packets = await packetsOf(film)
    let at = 0
    while (!stopped.aborted) at = await this.#segment({ roomId, userId }, film, packets, at, stopped)
  }

  /** Writes one segment. @param at position in the endless film @returns position of the next one */
  async #segment(
    { roomId, userId }: { roomId: string; userId: string },
    film: Film,
    all: FilmPackets,
    at: number,
    stopped: AbortSignal,
  ): Promise<number> {
    const container = film.codec === 'vp8' ? 'webm' : 'mp4'
    const startedAt = Date.now()
    const stream = { roomId, userId, source: 'main', quality: 'main' } as const
    const start: SegmentStart = {
      ...stream,
      file: segmentPath(stream, startedAt, container),
      ...{ container, userName: `Name of ${userId}`, topic: 'Room', device: true, startedAt, senderStartedAt: null },
      ...{ videoCodec: all.videoCodec, audioCodec: all.audioCodec, width: film.width, height: film.height },
    }
    const { output, close } = await openSegmentOutput(this.folder, start)
    const add = await all.sources(output)
    await output.start()
    this.index.writer.began(start)
    const began = performance.now()
    const { time: from } = all.at(at)
    let seconds = 0
    let next = at
    for (; !stopped.aborted; next++) {
      const packet = all.at(next)
      const time = packet.time - from
      if (packet.key && time >= this.#segmentMs / 1_000) break
      await pace(began + time * 1_000)
      await add(packet, time)
      seconds = time + packet.packet.duration
    }
    const bytes = await close()
    const ended: Segment = {
      ...start,
      endedAt: startedAt + seconds * 1_000,
      bytes,
      end: stopped.aborted ? 'stopped' : 'length',
    }
    this.index.writer.ended(ended)
    return next
  }
}

interface FilmPacket {
  kind: 'video' | 'audio'
  key: boolean
  packet: EncodedPacket
  /** In the endless film, in seconds. */
  time: number
}

interface FilmPackets {
  videoCodec: string
  audioCodec: string
  at(position: number): FilmPacket
  sources(output: Output): Promise<(packet: FilmPacket, timestamp: number) => Promise<void>>
}

/** Packets of a film that begins again at its end; a position counts them. */
async function packetsOf(film: Film): Promise<FilmPackets> {
  using input = new Input({ source: new FilePathSource(await filmOf(film)), formats: ALL_FORMATS })
  const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()]
  const found: { kind: 'video' | 'audio'; packet: EncodedPacket }[] = []
  if (video) for await (const packet of new EncodedPacketSink(video).packets()) found.push({ kind: 'video', packet })
  if (audio) for await (const packet of new EncodedPacketSink(audio).packets()) found.push({ kind: 'audio', packet })
  found.sort((one, other) => one.packet.timestamp - other.packet.timestamp || (one.kind === 'video' ? -1 : 1))
  // Sound that ends a little later than the picture would overlap with its next beginning.
  const packets = found.filter(({ packet }) => packet.timestamp >= 0 && packet.timestamp < film.seconds - 0.001)
  const [videoConfig, audioConfig] = [await video?.getDecoderConfig(), await audio?.getDecoderConfig()]
  const [videoCodec, audioCodec] = [await video?.getCodec(), await audio?.getCodec()]
  return {
    videoCodec: videoConfig?.codec ?? '',
    audioCodec: audioConfig?.codec ?? '',
    at(position) {
      const entry = packets[position % packets.length]
      if (entry === undefined) throw new Error('the film is empty')
      const { kind, packet } = entry
      const time = Math.floor(position / packets.length) * film.seconds + packet.timestamp
      return { kind, key: kind === 'video' && packet.type === 'key', packet, time }
    },
    async sources(output) {
      const picture = videoCodec ? new EncodedVideoPacketSource(videoCodec) : undefined
      const sound = audioCodec ? new EncodedAudioPacketSource(audioCodec) : undefined
      if (picture) output.addVideoTrack(picture)
      if (sound) output.addAudioTrack(sound)
      return async ({ kind, packet }, timestamp) => {
        const moved = packet.clone({ timestamp: Math.max(0, timestamp) })
        if (kind === 'video') await picture?.add(moved, videoConfig ? { decoderConfig: videoConfig } : undefined)
        else await sound?.add(moved, audioConfig ? { decoderConfig: audioConfig } : undefined)
      }
    },
  }
}

async function pace(at: number): Promise<void> {
  const milliseconds = at - performance.now()
  if (milliseconds > 1) await new Promise((resolve) => setTimeout(resolve, milliseconds))
}
