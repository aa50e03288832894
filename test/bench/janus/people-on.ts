import { JanusPeople } from '../../../server/nodes/janus/people/janus-people.ts'
import type { JanusServer } from '../../support/janus/janus-server.ts'
import { peopleFront } from '../../support/janus/people-front.ts'

const quiet = (): void => undefined
const logger = { debug: quiet, info: quiet, warn: console.warn, error: console.error }

/** People of a Janus whose rooms let everybody in, as the controller has them; and WHIP and WHEP in front of them. */
export interface PeopleOn extends AsyncDisposable {
  people: JanusPeople
  /** Of the front. */
  url: string
}

/** Joins nobody yet. */
export async function peopleOn(janus: JanusServer): Promise<PeopleOn> {
  const people = new JanusPeople({
    socket: { url: janus.wsUrl, apiSecret: janus.configuration.secrets.api, logger },
    admit: () => Promise.resolve({}),
    admitted: quiet,
    changed: quiet,
    moderate: () => Promise.resolve(),
    nameOf: (roomId) => roomId,
    clear: () => Promise.reject(new Error('somebody of that name is in already')),
    tell: quiet,
    logger,
    actMs: 20_000,
  })
  const front = await peopleFront(people)
  return {
    people,
    url: front.url,
    [Symbol.asyncDispose]: async () => {
      await people.close()
      await front[Symbol.asyncDispose]()
    },
  }
}
