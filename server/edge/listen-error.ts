import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'
import { portHolder } from './port-holder.ts'

/** Thrown if a listener cannot start; contains a message for the operator. */
export class ListenError extends Error {
  /** Error code of the system, e.g. `EACCES`, `EADDRNOTAVAIL`. */
  readonly code: string
  /** Name of the listener, e.g. `media`. */
  readonly listener: string
  readonly host: string
  readonly port: number

  readonly refusal: Refusal

  constructor(code: string, listener: string, host: string, port: number, refused: Refusal, cause?: unknown) {
    super(refused.message, { cause })
    this.name = 'ListenError'
    this.refusal = refused
    this.code = code
    this.listener = listener
    this.host = host
    this.port = port
  }
}

/** Thrown if another program listens on the port; the message names the program if the system provides its name. */
export class PortInUseError extends ListenError {
  constructor(listener: string, host: string, port: number, cause?: unknown) {
    super('EADDRINUSE', listener, host, port, heldPort(host, port), cause)
    this.name = 'PortInUseError'
  }
}

function heldPort(host: string, port: number): Refusal {
  const holder = portHolder(host, port)
  if (holder === undefined) return refusal('portTaken', { host, port })
  if (holder.pid === process.pid) return refusal('portOwn', { host, port })
  return refusal('portHeld', { host, port, program: holder.name, process: holder.pid })
}

/** Returns a named error for a failure of `listen`; any other error unchanged. */
export function listenError(error: unknown, listener: string, host: string, port: number): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error
  switch (error.code) {
    case 'EADDRINUSE':
      return new PortInUseError(listener, host, port, error)
    case 'EACCES':
      return new ListenError(error.code, listener, host, port, refusal('portForbidden', { host, port }), error)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ListenError(error.code, listener, host, port, refusal('hostNotOwn', { host }), error)
    default:
      return new ListenError(error.code, listener, host, port, refusal('portUnusable', { host, port }), error)
  }
}
