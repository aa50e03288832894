import { sole } from '../../support/sole-leadership.ts'
import { JanusPeople } from '../../../server/nodes/janus/people/janus-people.ts'
import type { JanusServer } from '../../support/janus/janus-server.ts'
import { peopleEndpoint } from '../../support/janus/people-endpoint.ts'

const quiet = (): void => undefined
const logger = { debug: quiet, info: quiet, warn: console.warn, error: console.error }

/** Users of a Janus with open rooms, as stored by the controller, with their WHIP and WHEP endpoint. */
export interface PeopleOn extends AsyncDisposable {
  people: JanusPeople
  /** URL of the endpoint. */
  url: string
}

/** Opens the endpoint without users. */
export async function peopleOn(janus: JanusServer): Promise<PeopleOn> {
  const people = new JanusPeople({
    socket: { url: janus.wsUrl, apiSecret: janus.configuration.secrets.api, leadership: sole, logger },
    entrance: { admit: () => Promise.resolve({}), admitted: quiet, changed: quiet },
    rooms: {
      nameOf: (roomId) => roomId,
      kick: () => Promise.reject(new Error('a user of that name is in the room')),
      moderate: () => Promise.resolve(true),
    },
    tell: quiet,
    logger,
    actMs: 20_000,
  })
  const endpoint = await peopleEndpoint(people.media)
  return {
    people,
    url: endpoint.url,
    [Symbol.asyncDispose]: async () => {
      await people.close()
      await endpoint[Symbol.asyncDispose]()
    },
  }
}
