import type { GuessKind, ReportParams } from '../../shared/media/controller-methods.ts'
import { type ErrorName, retOf, success } from '../../shared/result-codes.ts'
import type { RequestObserver } from '../observe/observation.ts'
import { visitNames } from '../../shared/room-entry.ts'

/** Report of a node about rejected guesses. */
export type RefusedGuesses = ReportParams<'guesses'>

const words: Record<GuessKind, { error: ErrorName; msg: string }> = {
  badLink: { error: 'tokenIncorrect', msg: 'The join link is not valid or has expired.' },
  hostPasswordWrong: { error: 'authenticationFailed', msg: 'The host password is wrong.' },
  tooMany: { error: 'tooManyFailures', msg: 'Too many attempts from this address: wait a minute.' },
}

/**
 * Records guesses that the embedded node rejected in the activity: one entry for all guesses of one address within a
 * second.
 */
export function observeGuesses(observer: RequestObserver, { groups, more }: RefusedGuesses): void {
  const at = Date.now()
  const visit = { at, api: 'media', operation: visitNames.enterRoom, duration: 0, credential: '' } as const
  const params = new Map<string, unknown>()
  for (const { kind, path, client, roomId, count } of groups) {
    const { error, msg } = words[kind]
    observer.observe({
      ...visit,
      params,
      method: path === '/signal' || path === '/entry' ? 'GET' : 'POST',
      path,
      ret: retOf('media', error) ?? success,
      client,
      room: roomId,
      msg,
      reason: count === 1 ? '' : `${count} attempts within a second`,
    })
  }
  if (more === 0) return
  observer.observe({
    ...visit,
    params,
    method: '',
    path: '',
    ret: retOf('media', words.tooMany.error) ?? success,
    client: '',
    room: '',
    msg: 'Too many attempts from many addresses.',
    reason: `${more} attempts within a second`,
  })
}
