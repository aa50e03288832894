import { shallowRef } from 'vue'
import { numberOf, roundTripOf, type StatsEntry } from '../../kit/media/connection-reading.ts'
import type { RemoteMedia } from './remote-media.ts'

/** Problems of the connection or a device, the most urgent first. */
const troubles = [
  'micStopped',
  'micSilent',
  'cameraStopped',
  'sendingLossy',
  'sendingSlow',
  'receivingSlow',
  'delayed',
  'person',
] as const
export type Trouble = (typeof troubles)[number]

/** Totals and states of what this browser sends, at one moment. */
export class SendingReading {
  /** Packets of the microphone's sound that were sent; undefined: no sound is sent. */
  soundPackets: number | undefined
  /** Energy of that sound; undefined: this browser does not measure it (Firefox). */
  soundEnergy: number | undefined
  /** Pictures that the camera delivered; undefined: no picture is sent. */
  cameraFrames: number | undefined
  /** Height of the camera's picture, and of the largest layer that is sent, in pixels. */
  cameraHeight = 0
  /** Pictures sent, by height of the layer. */
  readonly sentFrames = new Map<number, number>()
  /** The link limits the encoder. */
  isLimited = false
  /** Share of sound packets lost on the way, 0 to 1. */
  loss = 0
  /** Round-trip time in milliseconds; undefined: unknown. */
  roundTripMs: number | undefined
}

/** Reads what a connection sends (getStats). */
async function readSending(connection: RTCPeerConnection): Promise<SendingReading> {
  const reading = new SendingReading()
  const report = await connection.getStats()
  report.forEach((entry: StatsEntry) => {
    const isSound = entry.kind === 'audio'
    if (entry.type === 'media-source' && isSound) reading.soundEnergy = known(entry.totalAudioEnergy)
    else if (entry.type === 'media-source') {
      reading.cameraFrames = known(entry.frames)
      reading.cameraHeight = numberOf(entry.height)
    } else if (entry.type === 'outbound-rtp' && isSound)
      reading.soundPackets = (reading.soundPackets ?? 0) + numberOf(entry.packetsSent)
    else if (entry.type === 'outbound-rtp') {
      const height = numberOf(entry.frameHeight)
      reading.sentFrames.set(height, (reading.sentFrames.get(height) ?? 0) + numberOf(entry.framesSent))
      if (entry.qualityLimitationReason === 'bandwidth') reading.isLimited = true
    } else if (entry.type === 'remote-inbound-rtp' && isSound) reading.loss = numberOf(entry.fractionLost)
    else if (entry.type === 'candidate-pair' && entry.nominated === true) {
      reading.roundTripMs = roundTripOf(entry) ?? reading.roundTripMs
    }
  })
  return reading
}

function known(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Limits above which users notice. */
const maxLoss = 0.08
const maxRoundTripMs = 600

/**
 * Returns the problems visible in two readings of what this browser sends. @param on whether microphone and camera are
 * on
 */
export function signsOfSending(
  before: SendingReading,
  after: SendingReading,
  on: { microphone: boolean; camera: boolean },
): Set<Trouble> {
  const signs = new Set<Trouble>()
  if (on.microphone && after.soundPackets !== undefined) {
    // A working microphone always picks up some noise.
    if (after.soundEnergy === 0) signs.add('micSilent')
    else if (after.soundPackets === before.soundPackets) signs.add('micStopped')
    if (after.loss > maxLoss) signs.add('sendingLossy')
  }
  if (on.camera && after.cameraFrames !== undefined) {
    if (after.cameraFrames === before.cameraFrames) signs.add('cameraStopped')
    else if (after.isLimited && sentHeight(before, after) * 2 <= after.cameraHeight) signs.add('sendingSlow')
  }
  if ((after.roundTripMs ?? 0) > maxRoundTripMs) signs.add('delayed')
  return signs
}

/** Returns the height of the largest layer of which pictures were sent. */
function sentHeight(before: SendingReading, after: SendingReading): number {
  const heights = [...after.sentFrames].filter(([height, frames]) => frames > (before.sentFrames.get(height) ?? 0))
  return Math.max(0, ...heights.map(([height]) => height))
}

/**
 * Returns the problems visible in the quality of received streams. If several streams are poor, the own link is the
 * reason; otherwise the sender's.
 * @returns `userIds`: users whose own connection is poor
 */
export function signsOfReceiving(media: Iterable<RemoteMedia>): { signs: Set<Trouble>; userIds: string[] } {
  const seen = [...media].filter((each) => each.seen && each.state === 'connected' && each.quality !== 'unknown')
  const poor = seen.filter(({ quality, sent }) => quality === 'poor' || sent === 'key_frames')
  const none = { signs: new Set<Trouble>(), userIds: [] }
  if (poor.length === 0) return none
  const isOwn = poor.some(({ sent }) => sent === 'key_frames') || poor.length * 2 > seen.length
  if (isOwn) return { signs: new Set(['receivingSlow']), userIds: [] }
  return { signs: new Set(['person']), userIds: [...new Set(poor.map(({ userId }) => userId))] }
}

const readEveryMs = 2_000
/** Number of consecutive readings with a problem before it is shown, and without it before it is removed. */
const appearsAfter = 3
const disappearsAfter = 4
/** Time for which a dismissed problem stays hidden, in milliseconds. */
const dismissedMs = 5 * 60_000

/** A problem as shown on the page. */
export interface ShownTrouble {
  trouble: Trouble
  /** Affected users, for `person`. */
  userIds: readonly string[]
}

export interface TroubleSources {
  sending: () => RTCPeerConnection | undefined
  media: () => Iterable<RemoteMedia>
  on: () => { microphone: boolean; camera: boolean }
  /** Whether the page is connected to the node. A lost connection has its own notice. */
  connected: () => boolean
}

/** Finds problems of the connection and of devices. Problems of only a few seconds are not shown. */
export class Troubles {
  /** The most urgent problem; null: none. */
  readonly shown = shallowRef<ShownTrouble | null>(null)
  readonly #sources: TroubleSources
  readonly #lasting = new Lasting()
  readonly #dismissedAt = new Map<Trouble, number>()
  readonly #timer: ReturnType<typeof setInterval>
  #last: { connection: RTCPeerConnection; reading: SendingReading } | undefined

  constructor(sources: TroubleSources) {
    this.#sources = sources
    this.#timer = setInterval(() => void this.#read(), readEveryMs)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.shown.value = null
  }

  /** Hides the shown problem for some minutes. */
  dismiss(): void {
    if (this.shown.value !== null) this.#dismissedAt.set(this.shown.value.trouble, performance.now())
    this.shown.value = null
  }

  async #read(): Promise<void> {
    const { media, connected } = this.#sources
    if (!connected()) {
      this.#last = undefined
      this.#lasting.clear()
      this.shown.value = null
      return
    }
    const receiving = signsOfReceiving(media())
    const sending = await this.#signsOfSending()
    const now = this.#lasting.take(new Set([...sending, ...receiving.signs]))
    const trouble = troubles.find((each) => now.has(each) && !this.#isDismissed(each))
    const before = this.shown.value
    if (trouble === undefined) this.shown.value = null
    else if (before?.trouble !== trouble || trouble === 'person')
      this.shown.value = {
        trouble,
        userIds: receiving.userIds.length > 0 ? receiving.userIds : (before?.userIds ?? []),
      }
  }

  async #signsOfSending(): Promise<ReadonlySet<Trouble>> {
    const connection = this.#sources.sending()
    if (connection?.connectionState !== 'connected') {
      this.#last = undefined
      return new Set()
    }
    const reading = await readSending(connection).catch(() => undefined)
    const before = this.#last?.connection === connection ? this.#last.reading : undefined
    this.#last = reading === undefined ? undefined : { connection, reading }
    return before === undefined || reading === undefined
      ? new Set()
      : signsOfSending(before, reading, this.#sources.on())
  }

  #isDismissed(trouble: Trouble): boolean {
    const at = this.#dismissedAt.get(trouble)
    return at !== undefined && performance.now() - at < dismissedMs
  }
}

/** Filters problems by hysteresis, both when they appear and when they disappear. */
export class Lasting {
  /** Number of consecutive readings with a problem; negative: without it. */
  readonly #runs = new Map<Trouble, number>()
  readonly #now = new Set<Trouble>()

  /** Adds the problems of one reading. @returns the problems that have lasted */
  take(signs: ReadonlySet<Trouble>): ReadonlySet<Trouble> {
    for (const each of troubles) {
      const before = this.#runs.get(each) ?? 0
      const run = signs.has(each) ? Math.max(before, 0) + 1 : Math.min(before, 0) - 1
      this.#runs.set(each, run)
      if (run >= appearsAfter) this.#now.add(each)
      if (-run >= disappearsAfter) this.#now.delete(each)
    }
    return this.#now
  }

  clear(): void {
    this.#runs.clear()
    this.#now.clear()
  }
}
