import { isIP } from 'node:net'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { type RefusalName, refusal } from '../../shared/refusals/refusal.ts'
import type { MediaRefusalName } from '../../shared/media/room-media.ts'
import type { RoomMedia, RoomMediaParams, RoomPeople } from '../nodes/port/room-media.ts'

/** Maximum number of open previews of remote media. */
const maxPreviews = 1_000
/** Maximum number of candidates per answer; even a machine with several network cards and VPNs has fewer. */
const maxCandidates = 24
/** Lowest port of a candidate. Lower ports belong to system services; browsers do not use them. */
const firstPort = 1_024

const refusalNames = {
  noRoom: 'streamNotFound',
  noStream: 'streamNotFound',
  noSession: 'previewOver',
  tooManyVideos: 'previewTooManyVideos',
  badOffer: 'previewAnswerRefused',
  busy: 'previewBusy',
} as const satisfies Record<MediaRefusalName, RefusalName>

/** Methods of remote media that previews use. */
export type PreviewedMedia = Pick<RoomMedia, 'watch' | 'answer' | 'resize' | 'end'> &
  Pick<RoomPeople, 'isOpen' | 'refusalOf'>

/**
 * Console previews of streams in rooms whose media is on another node. The other node sends an offer, and the page's
 * browser answers through the controller.
 */
export class RemotePreviews {
  readonly #media: PreviewedMedia
  readonly #sessions = new Set<string>()

  constructor(media: PreviewedMedia) {
    this.#media = media
  }

  /** Whether the session is a preview of remote media. */
  has(session: string): boolean {
    return this.#sessions.has(session)
  }

  /** Starts a preview. Resolves to the node's offer. @throws RefusalError notFound, failed */
  async watch(
    request: Omit<RoomMediaParams<'watch'>, 'userId'>,
    signal: AbortSignal,
  ): Promise<{ session: string; offer: string }> {
    if (this.#sessions.size >= maxPreviews) this.#forgetEnded()
    if (this.#sessions.size >= maxPreviews) throw new RefusalError(refusal('previewLimit'))
    const { session, sdp } = await this.#orFailed(this.#media.watch({ ...request, userId: null }, signal))
    this.#sessions.add(session)
    return { session, offer: sdp }
  }

  /** Sends the browser's answer to the node. @throws RefusalError failed */
  async answer(session: string, answer: string, signal: AbortSignal): Promise<void> {
    if (!this.#isOpen(session)) throw failed('noSession')
    await this.#orFailed(this.#media.answer({ session, answer: withCallable(answer) }, signal))
  }

  /**
   * Sends the displayed height of the picture, in device pixels. Resolves to false if the preview has ended.
   * @throws RefusalError failed
   */
  async resize(session: string, height: number, signal: AbortSignal): Promise<boolean> {
    if (!this.#isOpen(session)) return false
    await this.#orFailed(this.#media.resize({ session, height }, signal))
    return true
  }

  /** Ends a preview. Idempotent. @throws RefusalError failed */
  async end(session: string, signal: AbortSignal): Promise<void> {
    if (!this.#sessions.delete(session)) return
    await this.#orFailed(this.#media.end({ session }, signal))
  }

  #isOpen(session: string): boolean {
    if (!this.#sessions.has(session)) return false
    if (this.#media.isOpen(session)) return true
    this.#sessions.delete(session)
    return false
  }

  #forgetEnded(): void {
    for (const session of this.#sessions) this.#isOpen(session)
  }

  async #orFailed<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      throw failed(this.#media.refusalOf(error), error)
    }
  }
}

function failed(name: MediaRefusalName, cause?: unknown): RefusalError {
  return new RefusalError(refusal(refusalNames[name]), { cause })
}

/**
 * Removes candidates to which the node must not send connectivity checks. The remaining candidates are UDP addresses,
 * or the mDNS names with which browsers replace addresses (draft-ietf-mmusic-mdns-ice-candidates). A browser without
 * candidates still connects: the node reads the browser's address from its first check.
 */
function withCallable(sdp: string): string {
  const lines = sdp.split(/(?<=\n)/)
  const callable = new Set(lines.filter(isCallable).slice(0, maxCandidates))
  return lines.filter((line) => !/^\s*a=\s*candidate/i.test(line) || callable.has(line)).join('')
}

function isCallable(line: string): boolean {
  const [, transport = '', address = '', port = ''] =
    /^a=candidate:\S+ \d+ (\S+) \d+ (\S+) (\d{1,5}) typ [a-z]+(?:\s|$)/i.exec(line) ?? []
  if (transport.toLowerCase() !== 'udp' || Number(port) < firstPort || Number(port) > 65_535) return false
  return isIP(address) !== 0 || /^[\w-]+\.local$/i.test(address)
}
