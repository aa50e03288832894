import { pause } from '../../../../shared/sleep.ts'
import type { HandleEvent, JanusHandle } from '../wire/janus-handle.ts'

/**
 * Time to wait for Janus's candidates, in milliseconds. Candidates of Janus's own interfaces arrive within some
 * milliseconds; a STUN server may not answer.
 */
const gatherMs = 500

/**
 * Adds Janus's candidates, which arrive one by one, to Janus's session description: a peer that receives the
 * description over HTTP gets no later messages. Listens from construction, because candidates may arrive before the
 * description.
 */
export class CandidateGathering {
  readonly #lines: string[] = []
  readonly #completed = Promise.withResolvers<void>()
  readonly #stop: () => void

  constructor(handle: JanusHandle) {
    this.#stop = handle.onEvent((event) => this.#hear(event))
  }

  /** Returns the description with the gathered candidates. Call it once. */
  async describe(sdp: string): Promise<string> {
    try {
      if (sdp.includes('a=end-of-candidates')) return sdp
      const waiting = new AbortController()
      await Promise.race([this.#completed.promise, pause(gatherMs, { signal: waiting.signal, ref: false })])
      waiting.abort()
      return withCandidates(sdp, this.#lines)
    } finally {
      this.#stop()
    }
  }

  /** Stops listening without a description. */
  end(): void {
    this.#stop()
  }

  #hear(event: HandleEvent): void {
    if (event.type === 'detached' || event.type === 'hangup') return this.#completed.resolve()
    if (event.type !== 'trickle') return
    const { candidate = '', completed = false } = event.candidate
    if (candidate !== '') this.#lines.push(`a=${candidate.replace(/^a=/, '')}`)
    if (completed) this.#completed.resolve()
  }
}

/** All media is bundled (BUNDLE), so the candidates of the first section apply to all sections. */
function withCandidates(sdp: string, candidates: readonly string[]): string {
  const lines = sdp.replace(/\r\n$/, '').split('\r\n')
  const first = lines.findIndex((line) => line.startsWith('m='))
  const second = lines.findIndex((line, index) => index > first && line.startsWith('m='))
  lines.splice(second === -1 ? lines.length : second, 0, ...candidates, 'a=end-of-candidates')
  return `${lines.join('\r\n')}\r\n`
}

/**
 * Removes the announcement of further candidates from a browser's description (RFC 8838, section 3). Janus would wait
 * for them, possibly in vain. Without the announcement, it finds the browser by its first packets.
 */
export function withoutTrickle(sdp: string): string {
  return sdp.replace(/^a=ice-options:.*\r?\n/gm, '')
}

/** Credentials of one side of an ICE session (RFC 8839, section 5.4). */
export interface DescriptionCredentials {
  userFragment: string
  password: string
}

/**
 * Changes a browser's description to a new ICE session (RFC 8839, section 4.4.1.1.1). The candidates belong to the
 * previous session, and are removed.
 */
export function inIceSession(sdp: string, { userFragment, password }: DescriptionCredentials): string {
  return sdp
    .replace(/^a=(?:candidate:|end-of-candidates).*\r?\n/gm, '')
    .replace(/^a=ice-ufrag:[^\r\n]*/gm, () => `a=ice-ufrag:${userFragment}`)
    .replace(/^a=ice-pwd:[^\r\n]*/gm, () => `a=ice-pwd:${password}`)
}
