import type { AppChange, AppInput, AppOutput, AppProcedureName } from '../../../shared/app-contract.ts'
import { CallError, isResult, plain } from './transport.ts'

/**
 * Calls a procedure of the desktop app around the page.
 * @throws CallError
 */
export async function callApp<N extends AppProcedureName>(name: N, input: AppInput<N>): Promise<AppOutput<N>> {
  const { roomdesk: bridge } = window
  if (bridge === undefined) throw new CallError('internal', 'This page is not in the desktop app.')
  const answer: unknown = await bridge.callApp(name, plain(input))
  if (!isResult(answer)) throw new CallError('internal', `The answer to ${name} is malformed.`)
  if (answer.ok) return answer.value as AppOutput<N>
  const { code, message, problems, name: reason, values } = answer.error
  throw new CallError(code, message, problems, { name: reason, values })
}

/** Subscribes to changes of one part of the app. @returns a function that unsubscribes */
export function onAppChange(part: AppChange, listener: () => void): () => void {
  return window.roomdesk?.onAppChange((changed) => changed === part && listener()) ?? (() => undefined)
}
