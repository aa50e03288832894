import { portHolder } from './port-holder.ts'

/** Error of a listener that could not start, with the message for the operator and the port that it names. */
export class ListenError extends Error {
  /** Error code of the system, e.g. `EACCES`, `EADDRNOTAVAIL`. */
  readonly code: string
  /** Which listener, e.g. `media`. */
  readonly listener: string
  readonly host: string
  readonly port: number

  constructor(code: string, listener: string, host: string, port: number, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'ListenError'
    this.code = code
    this.listener = listener
    this.host = host
    this.port = port
  }
}

/** Another program listens on the port: named where the system tells. */
export class PortInUseError extends ListenError {
  constructor(listener: string, host: string, port: number, cause?: unknown) {
    super('EADDRINUSE', listener, host, port, `Port ${port} on ${host} is in use by ${holderText(host, port)}.`, cause)
    this.name = 'PortInUseError'
  }
}

function holderText(host: string, port: number): string {
  const holder = portHolder(host, port)
  if (holder === undefined) return 'another program'
  return holder.pid === process.pid ? 'this controller itself' : `${holder.name} (process ${holder.pid})`
}

/** The named error for what `listen` failed with; anything else is returned as it is. */
export function listenError(error: unknown, listener: string, host: string, port: number): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error
  switch (error.code) {
    case 'EADDRINUSE':
      return new PortInUseError(listener, host, port, error)
    case 'EACCES':
      return new ListenError(
        error.code,
        listener,
        host,
        port,
        `No permission to listen on port ${port} of ${host}.`,
        error,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ListenError(error.code, listener, host, port, `${host} is not an address of this machine.`, error)
    default:
      return new ListenError(error.code, listener, host, port, `Cannot listen on ${host}:${port}.`, error)
  }
}
