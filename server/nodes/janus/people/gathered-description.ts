import { pause } from '../../../../shared/sleep.ts'
import type { HandleEvent, JanusHandle } from '../wire/janus-handle.ts'

/** Candidates of Janus's own interfaces come within some milliseconds; a STUN server that does not answer is not waited for longer. */
const gatherMs = 500

/**
 * Puts Janus's candidates, which arrive one by one, into its description: a peer that gets it by HTTP receives nothing later. It listens from its making on, because the first
 * candidates may arrive before the description.
 */
export class CandidateGathering {
  readonly #lines: string[] = []
  readonly #completed = Promise.withResolvers<void>()
  readonly #stop: () => void

  constructor(handle: JanusHandle) {
    this.#stop = handle.onEvent((event) => this.#hear(event))
  }

  /** The description with what has been gathered. Once. */
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

  /** It is not needed any more. */
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

/** All media goes one way (BUNDLE): its candidates are those of the first section. */
function withCandidates(sdp: string, candidates: readonly string[]): string {
  const lines = sdp.replace(/\r\n$/, '').split('\r\n')
  const first = lines.findIndex((line) => line.startsWith('m='))
  const second = lines.findIndex((line, index) => index > first && line.startsWith('m='))
  lines.splice(second === -1 ? lines.length : second, 0, ...candidates, 'a=end-of-candidates')
  return `${lines.join('\r\n')}\r\n`
}

/**
 * A browser's description without the promise of more candidates (RFC 8838, section 3): Janus waits for those, and they may never come, while it finds the browser by its
 * first packets.
 */
export function withoutTrickle(sdp: string): string {
  return sdp.replace(/^a=ice-options:.*\r?\n/gm, '')
}

/** Credentials of one end of an ICE session (RFC 8839, section 5.4). */
export interface IceCredentials {
  userFragment: string
  password: string
}

/** A browser's description in a new ICE session (RFC 8839, section 4.4.1.1.1): its addresses were of the one before. */
export function inIceSession(sdp: string, { userFragment, password }: IceCredentials): string {
  return sdp
    .replace(/^a=(?:candidate:|end-of-candidates).*\r?\n/gm, '')
    .replace(/^a=ice-ufrag:[^\r\n]*/gm, () => `a=ice-ufrag:${userFragment}`)
    .replace(/^a=ice-pwd:[^\r\n]*/gm, () => `a=ice-pwd:${password}`)
}
