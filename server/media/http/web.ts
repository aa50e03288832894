import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Handlers of a port of the node. An error thrown by a handler is logged and ends only its connection. */
export interface WebHandlers {
  request(request: IncomingMessage, response: ServerResponse): unknown
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/** Certificate and private key, in PEM. */
interface Certificate {
  cert: string
  key: string
}

/** Values to verify requests that other controllers forward. */
export interface PassedOnProof {
  /** Key of the proofs, in base64. */
  key: string
  /** Id of this controller. */
  self: string
  /** Certificate presented to other controllers on a plain HTTP port. */
  tls?: Certificate | undefined
}

/** HTTP port with the protection that `Web` provides. */
export interface WebPort {
  /**
   * @param address port 0 selects a free port. Without `tls` the port serves plain HTTP; `formerTls` then also answers
   *   pages that were opened over HTTPS earlier.
   * @throws Error of the listener, e.g. EADDRINUSE
   */
  start(address: {
    host: string
    port: number
    tls: Certificate | undefined
    formerTls: Certificate | undefined
  }): Promise<{ port: number }>
  stop(): Promise<void>
  /** Replaces the certificate for new connections. @throws TypeError if the port does not use TLS */
  secure(tls: Certificate): void
  readonly connections: number
}

/** TCP port without HTTP. */
interface StreamPort {
  /** Number of the port; 0: it does not listen. */
  readonly port: number
  /** @throws Error of the listener, e.g. EADDRINUSE */
  start(host: string, port: number): Promise<void>
  /** Closes the port and its connections. */
  close(): void
}

/** Files of a page, by percent-encoded path. */
export interface PageFiles {
  file(path: string): Promise<{ body: Buffer; type: string; immutable: boolean } | undefined>
}

/**
 * Creates ports and serves files for the node. Injected, so that the node's port has the same protection as every other
 * port of the product.
 */
export interface Web {
  /** @param passedOn omitted if no other controller forwards requests */
  port(handlers: WebHandlers, passedOn?: PassedOnProof): WebPort
  /** Returns the IP address of a request's client; for a forwarded request, the address in its proof. */
  client(request: IncomingMessage): string
  files(folder: string): PageFiles
  /** Creates the port of a test camera. At most `connections` connections are open; `serve` handles each of them. */
  streamPort(options: { name: string; connections: number; serve: (socket: Socket) => void }): StreamPort
}
