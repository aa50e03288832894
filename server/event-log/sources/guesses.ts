import type { ControlEvent } from '../../../shared/media/control.ts'
import type { EventSink } from '../event-log.ts'

/** Writes what a media node refused by itself: forged links, wrong host passwords, attempts past a limit; what was tried is not kept. */
export function reportGuesses(
  sink: EventSink,
  { groups, more }: Pick<Extract<ControlEvent, { type: 'guesses' }>, 'groups' | 'more'>,
): void {
  for (const { kind, client, roomId, count } of groups) {
    const actor = { type: 'client', name: '', address: client } as const
    // The number that a stranger tried may be anything, and is no room of the site for that.
    const subject = { type: 'site', id: '', name: '' } as const
    const room = /^\d{1,9}$/.test(roomId) ? roomId : ''
    sink.append({ kind: 'guesses.refused', level: 'warning', actor, subject, room, params: { guess: kind, count } })
  }
  if (more === 0) return
  const subject = { type: 'site', id: '', name: '' } as const
  sink.append({ kind: 'guesses.refused', level: 'warning', subject, params: { guess: 'tooMany', count: more } })
}
