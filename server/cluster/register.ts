import { hasCode } from '../../shared/error-code.ts'
import { timeoutSignal } from '../store/system/time.ts'
import type { RegisterWithLeader } from '../store/election/member-options.ts'
import type { AskPeer } from './peer-console.ts'
import { clusterTimes } from '../store/election/timings.ts'

/** Makes this controller known to the console of the one that leads (`POST /controllers`). */
export function registerBy(ask: AskPeer): RegisterWithLeader {
  return async (leader, joiner, signal) => {
    const question = { method: 'POST', path: '/controllers', body: JSON.stringify(joiner) }
    const deadline = AbortSignal.any([signal, timeoutSignal(clusterTimes.register)])
    try {
      const said = await ask(leader, question, deadline)
      return said?.status === 204 ? 'known' : 'open'
    } catch (error) {
      // Its machine is there, and says that no program listens.
      return hasCode(error, 'ECONNREFUSED') ? 'gone' : 'open'
    }
  }
}
