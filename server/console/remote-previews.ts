import { isIP } from 'node:net'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { type RefusalName, refusal } from '../../shared/refusals/refusal.ts'
import type { MediaRefusalName } from '../../shared/media/room-media.ts'
import type { RoomMedia, RoomMediaParams, RoomPeople } from '../nodes/port/room-media.ts'

/** Limit of previews of remote media that are open at once. */
const maxPreviews = 1_000
/** Candidates that one answer may name: a machine with several network cards and VPNs has fewer. */
const maxCandidates = 24
/** Ports below belong to services of the system; browsers do not give them out. */
const firstPort = 1_024

const refusalNames = {
  noRoom: 'streamNotFound',
  noStream: 'streamNotFound',
  noSession: 'previewOver',
  tooManyVideos: 'previewTooManyVideos',
  badOffer: 'previewAnswerRefused',
  busy: 'previewBusy',
} as const satisfies Record<MediaRefusalName, RefusalName>

/** Part of the nodes' media that previews use. */
export type PreviewedMedia = Pick<RoomMedia, 'watch' | 'answer' | 'resize' | 'end'> &
  Pick<RoomPeople, 'isOpen' | 'refusalOf'>

/** Previews in the console of streams whose room has its media on another node: that node offers, and the page's browser answers through the controller. */
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

  /** Begins a preview. Resolves to the node's offer. @throws RefusalError notFound, failed */
  async watch(
    wish: Omit<RoomMediaParams<'watch'>, 'userId'>,
    signal: AbortSignal,
  ): Promise<{ session: string; offer: string }> {
    if (this.#sessions.size >= maxPreviews) this.#forgetEnded()
    if (this.#sessions.size >= maxPreviews) throw new RefusalError(refusal('previewLimit'))
    const { session, sdp } = await this.#orFailed(this.#media.watch({ ...wish, userId: null }, signal))
    this.#sessions.add(session)
    return { session, offer: sdp }
  }

  /** Takes the browser's answer. @throws RefusalError failed */
  async answer(session: string, answer: string, signal: AbortSignal): Promise<void> {
    if (!this.#isOpen(session)) throw failed('noSession')
    await this.#orFailed(this.#media.answer({ session, answer: withCallable(answer) }, signal))
  }

  /** Notes how high the picture is shown, in device pixels. Resolves to whether the preview goes on. @throws RefusalError failed */
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
 * The answer without candidates that the node is not to call: it sends a check to each. The rest are UDP addresses of machines, or the names that browsers put in their place
 * (draft-ietf-mmusic-mdns-ice-candidates). A browser without any still connects: the node learns its address from its first check.
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
