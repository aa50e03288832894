import busiestMinute from './bundled/busiest-minute.json' with { type: 'json' }
import cameraComesAndGoes from './bundled/camera-comes-and-goes.json' with { type: 'json' }
import cameraLies from './bundled/camera-lies.json' with { type: 'json' }
import diskHangs from './bundled/disk-hangs.json' with { type: 'json' }
import expiredToken from './bundled/expired-token.json' with { type: 'json' }
import firstDay from './bundled/first-day.json' with { type: 'json' }
import floodOfLogins from './bundled/flood-of-logins.json' with { type: 'json' }
import fullRoom from './bundled/full-room.json' with { type: 'json' }
import lateAnswers from './bundled/late-answers.json' with { type: 'json' }
import licenceExpires from './bundled/licence-expires.json' with { type: 'json' }
import { type Scenario, scenarioOf } from './format.ts'

/** Documents in the order in which a reader meets them. */
const documents: readonly { name: string }[] = [
  firstDay,
  fullRoom,
  expiredToken,
  floodOfLogins,
  lateAnswers,
  licenceExpires,
  diskHangs,
  busiestMinute,
  cameraLies,
  cameraComesAndGoes,
]

let read: readonly Scenario[] | undefined

/** Returns all bundled scenarios. */
export function bundledScenarios(): readonly Scenario[] {
  return (read ??= documents.map(scenarioOf))
}

/** Returns the text of a bundled scenario; undefined: there is none of this name. */
export function bundledText(name: string): string | undefined {
  const document = documents.find((each) => each.name === name)
  return document === undefined ? undefined : `${JSON.stringify(document, undefined, 2)}\n`
}

/** Returns the bundled scenario of this name; undefined: there is none. */
export function bundledScenario(name: string): Scenario | undefined {
  return bundledScenarios().find((each) => each.name === name)
}
