import { once } from 'node:events'
import net from 'node:net'
import { pipeline } from 'node:stream'
import tls, { rootCertificates } from 'node:tls'
import { errorCode } from '../../shared/error-code.ts'
import { maxKeyFileBytes, readRegularFile } from '../../shared/files/regular-file.ts'

/**
 * Reads the authorities that may sign a server's certificate: the well-known authorities, and the authorities in a PEM
 * file.
 * @param file path; empty: only the well-known authorities
 * @throws UnusableFileError and errors of the file system, with their codes; Error if the file contains no certificate
 */
export async function readAuthorities(file: string): Promise<string[]> {
  if (file === '') return [...rootCertificates]
  const own = (await readRegularFile(file, maxKeyFileBytes)).toString('utf8')
  if (!own.includes('-----BEGIN CERTIFICATE-----')) throw new Error('The file of authorities holds no certificate.')
  return [...rootCertificates, own]
}

/**
 * Whether an error of a TLS connection concerns the certificate.
 * @param code error code of Node.js, e.g. `SELF_SIGNED_CERT_IN_CHAIN`
 */
export function isOfCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO|TLS/.test(code)
}

export interface TunnelTarget {
  /** IP address. */
  address: string
  port: number
  /** Name or IP address that the server's certificate must contain. */
  host: string
}

/** TLS connection that a program on this machine uses without TLS. */
export interface TlsTunnel extends Disposable {
  /** Port on 127.0.0.1 that accepts one connection. */
  readonly port: number
}

/** Timeout of connecting, in milliseconds. */
const connectMs = 10_000

/**
 * Connects to a server, checks its certificate, and opens a port on 127.0.0.1 that forwards to it. Accepts only the
 * first connection.
 * @param ca permitted authorities, as PEM
 * @throws Error with a sentence for the operator
 */
export async function openTlsTunnel(
  { address, port, host }: TunnelTarget,
  ca: string[],
  signal: AbortSignal,
): Promise<TlsTunnel> {
  // The server_name extension permits names only, not addresses (RFC 6066, section 3).
  const name = net.isIP(host) === 0 ? { servername: host } : {}
  const far = tls.connect({ host: address, port, ca, ...name })
  const near = net.createServer()
  near.maxConnections = 1
  const close = (): void => {
    far.destroy()
    near.close()
  }
  try {
    await once(far, 'secureConnect', { signal: AbortSignal.any([signal, AbortSignal.timeout(connectMs)]) })
    near.listen(0, '127.0.0.1')
    await once(near, 'listening')
  } catch (error) {
    far.on('error', () => {})
    close()
    throw new Error(reasonOf(error, host), { cause: error })
  }
  far.on('error', close)
  near.once('connection', (socket) => {
    near.close()
    pipeline(socket, far, socket, close)
  })
  const place = near.address()
  return { port: typeof place === 'object' ? (place?.port ?? 0) : 0, [Symbol.dispose]: close }
}

function reasonOf(error: unknown, host: string): string {
  if (!(error instanceof Error)) return `${host} cannot be reached.`
  if (error.name === 'AbortError') return `${host} does not answer.`
  const code = errorCode(error) || error.name
  if (isOfCertificate(code)) return `The certificate of ${host} is not trusted (${code}).`
  return `${host} cannot be reached by TLS (${code}).`
}
