import { sleep } from '../../shared/sleep.ts'
import type { RunnerDecorator } from '../http/request-handler.ts'

/** Message of an answer that a fault rule gave. */
export const injectedAnswer = 'A fault rule of the lab gave this answer.'

/** Fault that is injected into one request. */
export interface RequestFault {
  /** Operation of the rule, or `*`. */
  rule: string
  /** Delay before the fault or the answer, in milliseconds. */
  delay: number
  /** Error number to answer instead of running the operation; null: runs the operation. */
  ret: number | null
  /** Whether to close the connection without an answer. */
  drop: boolean
}

/**
 * Returns a decorator that injects faults into requests.
 * @param faultOf returns the fault for a request of this operation; undefined: no fault
 */
export function withFaults(faultOf: (operation: string) => RequestFault | undefined): RunnerDecorator {
  return (run, funnel) => (exchange, route) => {
    const fault = faultOf(route.name)
    if (fault === undefined) return run(exchange, route)
    const { response } = exchange
    const inject = async (): Promise<void> => {
      // This header shows clients that a fault was injected.
      response.setHeader('X-Roomdesk-Fault', fault.rule)
      if (fault.delay > 0) await sleep(fault.delay, { ref: false })
      if (fault.drop) funnel.drop(exchange)
      else if (fault.ret === null) await run(exchange, route)
      else funnel.answerCode(exchange, fault.ret, injectedAnswer)
    }
    return inject()
  }
}
