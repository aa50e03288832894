import http from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { z } from 'zod'
import { RefusalError } from '../../shared/domain/outcome.ts'
import type { MediaRefusalName } from '../../shared/media/room-media.ts'
import { refusal, type RefusalName } from '../../shared/refusals/refusal.ts'
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

/** Maximum size of a node's response, in bytes. */
const maxAnswer = 64 * 1024

/** Response of a node to an offer. */
interface NodeAnswer {
  sdp: string
  /** Id of the session on the node. */
  session: string
  /**
   * Whether the response is a counter-offer of the node (draft-ietf-wish-whep, section 4.3.2), which must be answered.
   */
  offered: boolean
}

/**
 * Forwards an offer of the console's page to the node (WHEP), because the page may only connect to the controller.
 * @throws RefusalError failed, with the message of the node
 */
export async function passOffer(url: string, token: string, offer: string, signal: AbortSignal): Promise<NodeAnswer> {
  const headers = { 'content-type': 'application/sdp', authorization: `Bearer ${token}` }
  const { status, type, location, body } = await send('POST', url, headers, offer, signal)
  const offered = status === 406 && type.startsWith('application/sdp')
  if (status !== 201 && !offered) {
    const name = status === 406 && textOf(body, 'reason') === 'codec' ? 'previewCodec' : 'previewRefused'
    throw new RefusalError(refusal(name, { reason: detailOf(body, status) }))
  }
  return { sdp: body, session: location.split('/').at(-1) ?? '', offered }
}

/** Sends the page's answer to an offer of the node. @throws RefusalError failed, with the message of the node */
export async function passAnswer(nodeUrl: string, session: string, answer: string, signal: AbortSignal): Promise<void> {
  const headers = { 'content-type': 'application/sdp' }
  const url = `${nodeUrl}/session/${encodeURIComponent(session)}`
  const { status, body } = await send('PATCH', url, headers, answer, signal)
  if (status !== 204) throw new RefusalError(refusal('previewRefused', { reason: detailOf(body, status) }))
}

/** Ends a session on the node. A session that has already ended is not an error. @throws RefusalError failed */
export async function endSession(nodeUrl: string, session: string, signal: AbortSignal): Promise<void> {
  await send('DELETE', `${nodeUrl}/session/${encodeURIComponent(session)}`, {}, '', signal)
}

interface Response {
  status: number
  type: string
  location: string
  body: string
}

async function send(
  method: string,
  url: string,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  // The node is the controller's own process and uses the site's certificate, which need not be signed by an authority.
  const options = { method, headers, signal, rejectUnauthorized: false }
  try {
    return await new Promise<Response>((resolve, reject) => {
      const request = url.startsWith('https:') ? https.request(url, options) : http.request(url, options)
      request.on('error', reject)
      request.on('response', (response) => {
        boundedText(response).then((answer) => {
          const { statusCode: status = 0, headers: fields } = response
          const { location = '', 'content-type': type = '' } = fields
          resolve({ status, type, location, body: answer })
        }, reject)
      })
      request.end(body)
    })
  } catch (error) {
    throw new RefusalError(refusal('embeddedSilent'), { cause: error })
  }
}

/** Reads at most `maxAnswer` bytes of a response as text: the media program may be compromised. */
async function boundedText(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= maxAnswer) break
  }
  return Buffer.concat(chunks).subarray(0, maxAnswer).toString('utf8')
}

/** Returns the message of a problem document (RFC 9457). */
function detailOf(body: string, status: number): string {
  return textOf(body, 'detail') ?? `HTTP ${status}.`
}

function textOf(body: string, field: string): string | undefined {
  if (!body.startsWith('{')) return undefined
  try {
    const document = problemSchema.parse(JSON.parse(body))
    const value = document[field]
    return typeof value === 'string' ? value : undefined
  } catch {
    // The body is not a problem document.
    return undefined
  }
}

const problemSchema = z.record(z.string(), z.unknown())
