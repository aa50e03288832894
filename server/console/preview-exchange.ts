import http from 'node:http'
import https from 'node:https'
import { z } from 'zod'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'

/** Maximum size of a node's response, in bytes. */
const maxAnswer = 64 * 1024

/** Response of a node to an offer. */
export interface NodeAnswer {
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
