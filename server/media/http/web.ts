import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** What a port of the node does with what reaches it. What one of these throws is logged and ends that one connection. */
export interface WebHandlers {
  request(request: IncomingMessage, response: ServerResponse): unknown
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/** PEM texts. */
export interface Certificate {
  cert: string
  key: string
}

/** A guarded port. */
export interface WebPort {
  /** @param address port 0 picks a free one; without `tls` plain HTTP. @throws Error of the listener, e.g. EADDRINUSE */
  start(address: { host: string; port: number; tls: Certificate | undefined }): Promise<{ port: number }>
  /** Cuts every connection. */
  stop(): Promise<void>
  /** Shown to connections from now on. @throws TypeError when it does not speak TLS */
  secure(tls: Certificate): void
  /** Open connections. */
  readonly connections: number
}

/** The files of a page, by their path percent-encoded. */
export interface PageFiles {
  file(path: string): Promise<{ body: Buffer; type: string; immutable: boolean } | undefined>
}

/** What makes ports and serves files for the node: given by its entry, so that the node is protected as every other port of the product is. */
export interface Web {
  /** @param passedOn checks requests that other controllers of the site pass on: key in base64, id of this controller; left out: nobody passes any on */
  port(handlers: WebHandlers, passedOn?: { key: string; self: string }): WebPort
  /** IP address of a request's client: where it was passed on, the one that was proven. */
  client(request: IncomingMessage): string
  files(folder: string): PageFiles
}
