import type { ConsoleResult } from '../../shared/console/procedure.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { refused, resultOfError } from '../console/console-answer.ts'
import type { Dispatch, GatedDispatch } from '../console/dispatch.ts'
import { unproven } from '../gate/gate.ts'
import type { CallOrigin } from '../console/handlers.ts'
import { isPassedOnCall } from '../console/passed-on-calls.ts'
import { refuseCaller } from '../console/judge-call.ts'
import type { ControllerWatch } from '../console/site-controllers.ts'
import type { Log } from '../observe/log.ts'

/** Dependencies of the console of a replica. */
export interface ReadOnlyConsole {
  controllers: Pick<ControllerWatch, 'list'>
  /** Calls a procedure of the leader's console for somebody who has shown here who they are. */
  ask: (name: string, input: unknown, origin: CallOrigin) => Promise<ConsoleResult<unknown>>
  /** URL of the leader's console; empty where nobody leads. */
  leaderUrl: () => string
  log: Log
}

/** Makes the procedures of a replica: reads are sent to the leader, changes are refused with the leader's address. */
export function readOnlyDispatch({ controllers, ask, leaderUrl, log }: ReadOnlyConsole): GatedDispatch {
  const dispatch: Dispatch = async (name, input, origin) => {
    try {
      // The leader refuses callers without the permission, and so does this controller.
      if (name === 'controllers.list' && refuseCaller(name, origin) === undefined)
        return { ok: true, value: await controllers.list() }
      if (!isPassedOnCall(name)) {
        const url = leaderUrl()
        return refused(url === '' ? refusal('standbyAlone') : refusal('standby', { leader: url }))
      }
      return await ask(name, input, origin)
    } catch (error) {
      const known = resultOfError(error)
      if (known !== undefined) return known
      log.error({ err: error, procedure: name }, 'a console procedure failed')
      return refused(refusal('unexpected'))
    }
  }
  return unproven('the leader answers', dispatch)
}
