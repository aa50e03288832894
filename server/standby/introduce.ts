import { callerHeader, type ProofOfCaller } from '../console/passed-on-caller.ts'
import type { Introduce } from '../store/postgres/member-options.ts'
import { askConsole } from './ask-console.ts'

/** One that does not answer by then is asked again later, in milliseconds. */
const answerMs = 1_000

/** Makes this controller known to the console of the one that leads (`POST /controllers`). */
export function introduceBy(callers: ProofOfCaller): Introduce {
  return async ({ place }, joiner, signal) => {
    const headers = { [callerHeader]: callers.headerFor({ role: 'admin', way: 'key' }) }
    const question = { method: 'POST', path: '/controllers', headers, body: JSON.stringify(joiner) }
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    try {
      const said = await askConsole(place, question, deadline)
      return said?.status === 204 ? 'known' : 'open'
    } catch (error) {
      // Its machine is there, and says that no program listens.
      const refused = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
      return refused ? 'gone' : 'open'
    }
  }
}
