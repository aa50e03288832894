import { dropped } from '../base/traffic.ts'
import { type FfmpegPlan, keyFrameRequestMs, latestShownMs } from '../../../shared/media/ffmpeg.ts'
import type { MediaLog } from '../base/media-log.ts'
import type { ConvertedInput, TimedFrame } from './converted-input.ts'
import type { ConvertedPackets } from './converted-packets.ts'
import type { EncodedPicture } from './encoded-pictures.ts'
import type { FfmpegProcess, FfmpegRunner } from './ffmpeg-runner.ts'
import { matroskaFrame, matroskaHeader, type MatroskaTrack, ticksPerMs } from './matroska.ts'

export interface RunOptions {
  runner: FfmpegRunner
  inputs: Readonly<Partial<Record<Kind, ConvertedInput>>>
  packets: ConvertedPackets
  interlaced: boolean
  log: MediaLog
  /** Called once when the run ends by itself. */
  ended: (why: string) => void
}

export type Kind = 'video' | 'audio'

/**
 * Position of the first frame on ffmpeg's timeline, in milliseconds: ffmpeg outputs sound slightly earlier than its
 * input time.
 */
const leadMs = 1_000
/**
 * Time with input but without output after which a process counts as hanging, in milliseconds, and the longer limit at
 * the start of the process.
 */
const hangsAfterMs = 5_000
const startsWithinMs = 10_000
/** Time without input, in milliseconds, after which no output is expected. */
const fedWithinMs = 2_000

/** Input and output of one kind of media. */
interface Flow {
  input: ConvertedInput
  number: number
  /** Time of the source at time 0 of ffmpeg's timeline, in milliseconds; undefined before the first frame. */
  zero: number | undefined
  fedSince: number
  fedAt: number
  madeAt: number
  /** Whether input is skipped until the next key frame: at the start, or because the process did not keep up. */
  skipping: boolean
}

/** One ffmpeg process, from its first frame to its end: takes frames and emits packets for the feed. */
export class ConversionRun {
  readonly #options: RunOptions
  readonly #process: FfmpegProcess
  readonly #flows: Partial<Record<Kind, Flow>> = {}
  #keyFrameRequested = false
  #behind = false

  constructor(options: RunOptions) {
    this.#options = options
    const { inputs, runner } = options
    const tracks: MatroskaTrack[] = []
    const held: [Flow, TimedFrame][] = []
    let feeding = false
    for (const kind of ['video', 'audio'] as const) {
      const input = inputs[kind]
      if (input === undefined) continue
      const number = tracks.length + 1
      tracks.push({ ...input.source.matroska, number })
      const flow: Flow = { input, number, zero: undefined, fedSince: 0, fedAt: -Infinity, madeAt: 0, skipping: true }
      this.#flows[kind] = flow
      input.start((frame) => (feeding ? this.#feed(flow, frame) : held.push([flow, frame])))
    }
    this.#process = runner.start(this.#plan(held), {
      picture: (picture) => this.#takePicture(picture),
      sound: ({ at, frame }) => this.#takeSound(at, frame),
      ended: (why) => this.#end(why),
    })
    this.#process.write(matroskaHeader(tracks))
    feeding = true
    for (const [flow, frame] of held) this.#feed(flow, frame)
  }

  /** Whether every kind of output has arrived at least once. */
  get flowing(): boolean {
    return Object.values(this.#flows).every(({ madeAt }) => madeAt > 0)
  }

  requestKeyFrame(): void {
    this.#keyFrameRequested = true
  }

  /** @returns whether the process had input but no output for too long */
  hangs(now: number): boolean {
    return Object.values(this.#flows).some(({ fedSince, fedAt, madeAt }) => {
      if (fedSince === 0 || now - fedAt > fedWithinMs) return false
      return madeAt === 0 ? now - fedSince > startsWithinMs : now - Math.max(madeAt, fedSince) > hangsAfterMs
    })
  }

  /** Ends the run without calling `ended`. */
  stop(): void {
    for (const flow of Object.values(this.#flows)) flow.input.stop()
    this.#process.kill()
  }

  /** Returns the plan of the process. Output begins with the last picture that has already arrived. */
  #plan(held: readonly [Flow, TimedFrame][]): FfmpegPlan {
    const { video, audio } = this.#flows
    const { packets, interlaced } = this.#options
    const pictures = held.filter(([flow]) => flow === video).map(([, { at }]) => at)
    const [first = 0] = pictures
    const last = pictures.reduce((latest, at) => Math.max(latest, at), first)
    const shownFromMs = pictures.length < 2 ? 0 : Math.min(leadMs + Math.round(last - first) - 1, latestShownMs)
    return {
      video: video && { codec: packets.codec, shownFromMs, interlaced, still: false },
      audio: audio !== undefined,
    }
  }

  #feed(flow: Flow, { at, frame, key, recovers = false }: TimedFrame): void {
    // Without the previous pictures, this picture would be decoded with wrong colors.
    if (flow.skipping && !key && !recovers) {
      if (this.#behind) dropped.conversion += 1
      return
    }
    const now = performance.now()
    const isPicture = flow === this.#flows.video
    flow.zero ??= at - leadMs
    if (now - flow.fedAt > fedWithinMs) flow.fedSince = now
    const isRequested = isPicture && this.#keyFrameRequested
    if (isRequested) this.#keyFrameRequested = false
    const ms = Math.max(0, Math.round(at - flow.zero)) + (isRequested ? keyFrameRequestMs : 0)
    flow.skipping = !this.#process.write(matroskaFrame(flow.number, ms * ticksPerMs, key, frame))
    flow.fedAt = now
    if (flow.skipping) dropped.conversion += 1
    if (flow.skipping && !this.#behind) {
      this.#behind = true
      this.#options.log.warn('ffmpeg does not keep up with a camera', 'pictures up to its next key frame are left out')
    }
  }

  #takePicture({ at, units }: EncodedPicture): void {
    const flow = this.#flows.video
    if (flow?.zero === undefined) return
    flow.madeAt = performance.now()
    this.#options.packets.picture(flow.input.timestamp(flow.zero + at), units)
  }

  #takeSound(at: number, frame: Buffer): void {
    const flow = this.#flows.audio
    if (flow?.zero === undefined) return
    flow.madeAt = performance.now()
    const time = flow.zero + at
    this.#options.packets.sound(flow.input.timestamp(time), frame, flow.input.clock.arrivalOf(time))
  }

  #end(why: string): void {
    for (const flow of Object.values(this.#flows)) flow.input.stop()
    const { complaint } = this.#process
    this.#options.ended(complaint === '' ? why : `${why}: ${complaint}`)
  }
}
