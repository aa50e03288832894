import { request as plainRequest, type RequestOptions } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { X509Certificate } from 'node:crypto'
import { errorCode } from '../../shared/error-code.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'

/** Request to a listener of this controller. */
export interface OwnRequest {
  url: URL
  method: 'GET' | 'POST'
  /** Headers in addition to Host, Connection and Content-Length. */
  headers: Record<string, string>
  /** Request body; undefined: no body. */
  body: string | undefined
  /** PEM of the listener's own certificate; undefined for plain HTTP. */
  certificate: string | undefined
}

export interface ConsoleExchange {
  /** Request line, headers and body as sent, with line feeds. */
  request: string
  status: number
  headers: Record<string, string>
  body: string
  milliseconds: number
}

const deadlineMs = 10_000
/** Maximum size of a response that is kept, in bytes. */
const maxBody = 256 * 1024

/**
 * Sends a request over HTTP or HTTPS like an external client, and reads the response. Over HTTPS, only the listener's
 * own certificate is trusted; the names in the certificate are not checked.
 * @throws RefusalError failed if there is no response
 */
export async function sendOwn(asked: OwnRequest): Promise<ConsoleExchange> {
  const { url, method, body } = asked
  const headers = {
    Host: url.host,
    ...asked.headers,
    ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    Connection: 'close',
  }
  const lines = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body ?? '',
  ]
  const began = performance.now()
  try {
    const answer = await exchange(
      url,
      { method, headers, agent: false, signal: AbortSignal.timeout(deadlineMs) },
      asked,
    )
    const milliseconds = Math.round((performance.now() - began) * 10) / 10
    return { request: lines.join('\n').trimEnd(), ...answer, milliseconds }
  } catch (error) {
    throw new RefusalError(whyNot(error), { cause: error })
  }
}

function exchange(
  url: URL,
  options: RequestOptions,
  { body, certificate }: OwnRequest,
): Promise<Pick<ConsoleExchange, 'status' | 'headers' | 'body'>> {
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? tlsRequest(url, { ...options, ...trustOnly(certificate) })
        : plainRequest(url, options)
    sent.once('error', reject)
    sent.once('response', (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        if (size < maxBody) chunks.push(chunk)
        size += chunk.length
      })
      response.once('error', reject)
      response.once('end', () => {
        const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const)
        const text = Buffer.concat(chunks).subarray(0, maxBody).toString('utf8')
        resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(headers), body: text })
      })
    })
    sent.end(body)
  })
}

/** Returns TLS options that trust only this certificate, which need not be issued for the loopback address. */
function trustOnly(certificate: string | undefined) {
  if (certificate === undefined) return {}
  const own = new X509Certificate(certificate).fingerprint256
  return {
    ca: certificate,
    // Accepts a certificate signed by an authority as the trust anchor, without the certificate of the authority.
    allowPartialTrustChain: true,
    checkServerIdentity: (_host: string, { fingerprint256 }: { fingerprint256: string }): Error | undefined =>
      fingerprint256 === own ? undefined : new Error('another certificate was shown'),
  }
}

function whyNot(error: unknown): Refusal {
  if (!(error instanceof Error)) return refusal('requestFailed', { reason: 'something unexpected happened' })
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return refusal('requestTimeout', { seconds: deadlineMs / 1_000 })
  const code = errorCode(error)
  if (code === 'ECONNREFUSED') return refusal('requestRefused')
  if (code === 'ECONNRESET' || code === 'EPIPE') return refusal('requestCut')
  if (code === 'CERT_HAS_EXPIRED') return refusal('requestCertificateExpired')
  return refusal('requestFailed', { reason: code === '' ? error.message : code })
}
