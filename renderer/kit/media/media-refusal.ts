/** A media server refused an offer: its problem document (RFC 9457), or only its HTTP status. */
export class MediaRefusal extends Error {
  /** HTTP status. */
  readonly status: number
  /** Short name of the node's reason, e.g. `noStream`, `roomFull`; empty for another server. */
  readonly reason: string
  /** 507, 800 or 801 if a limit of the room was reached; 0 otherwise. */
  readonly code: number

  constructor(status: number, reason: string, code: number, message: string) {
    super(message)
    this.name = 'MediaRefusal'
    this.status = status
    this.reason = reason
    this.code = code
  }
}

/** Returns whether the browser lacks the codec of the stream. */
export function lacksCodec(error: unknown): boolean {
  return error instanceof MediaRefusal && error.reason === 'codec'
}

/** Reads the refusal from an answer other than 2xx. */
export async function refusalOf(response: Response): Promise<MediaRefusal> {
  const document: unknown = await response.json().catch(() => undefined)
  const fields = typeof document === 'object' && document !== null ? document : {}
  const reason = 'reason' in fields && typeof fields.reason === 'string' ? fields.reason : ''
  const code = 'code' in fields && typeof fields.code === 'number' ? fields.code : 0
  const detail = 'detail' in fields && typeof fields.detail === 'string' ? fields.detail : ''
  return new MediaRefusal(response.status, reason, code, detail || `HTTP ${response.status}`)
}
