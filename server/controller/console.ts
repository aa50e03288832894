import type { Logger } from 'pino'
import type { Attention } from '../../shared/console/site.ts'
import type { Settings } from '../../shared/settings.ts'
import { Callers } from '../console/callers.ts'
import { ConsoleFeed } from '../console/console-feed.ts'
import { refusal } from '../console/console-answer.ts'
import type { ConsoleKey } from '../console/console-key.ts'
import { ConsoleListener } from '../console/console-listener.ts'
import type { Dispatch } from '../console/dispatch.ts'
import { endsSessions } from '../console/ends-sessions.ts'
import { StaticFiles } from '../edge/static-files.ts'
import type { SiteTls } from '../edge/tls.ts'
import type { EventLog, EventSink } from '../event-log/event-log.ts'
import { tellSignIns } from '../event-log/sources/sign-ins.ts'
import type { Health } from './health.ts'
import type { LeaderSite } from './open-site.ts'
import type { Services } from './services.ts'

/** What the console port of a controller is made of. */
export interface ConsolePortParts {
  services: Services
  dispatch: Dispatch
  key: ConsoleKey
  /** Folder of the built page. */
  page: string
  tls: SiteTls
  settings: () => Settings
  health: (known: boolean) => Health
  signIns: EventSink
  led: LeaderSite | undefined
  logger: Logger
}

/** The console port of a controller that answers the site's APIs. Whoever is out by a change of accounts or settings is out at once. */
export function openConsolePort(parts: ConsolePortParts): ConsoleListener {
  const { services, key, tls, settings, led, logger } = parts
  const { store } = services
  const { accountSessions, accessTokens, signIn } = services.accountAccess
  const listener = new ConsoleListener({
    dispatch: parts.dispatch,
    hub: services.hub,
    key,
    callers: new Callers(key, store, accountSessions, accessTokens),
    signIn,
    sessions: accountSessions,
    page: new StaticFiles(parts.page),
    logger,
    metrics: () => services.metrics.text(),
    certificate: () => tls.material,
    metricsNeedToken: () => settings().console.metrics_token,
    health: parts.health,
    signIns: tellSignIns(parts.signIns),
    proof: led?.proof,
    kept: led?.kept,
    hearOf: led === undefined ? undefined : (joiner) => led.member.hearOf(joiner),
  })
  store.onChange((changes) => {
    if (changes.some(({ collection }) => endsSessions.has(collection))) listener.reviewSessions()
  })
  return listener
}

/** Who led until now, and slept meanwhile, tells nothing of what it remembers before it knows that nobody else leads. What it knows of the controllers it may tell. */
export function confirmedDispatch(dispatch: Dispatch, confirmed: () => Promise<void> | undefined): Dispatch {
  return async (name, input, origin) => {
    const unsure = name === 'controllers.list' ? undefined : confirmed()
    try {
      await unsure
    } catch {
      return refusal('standby', 'Another controller leads this site now: try again.')
    }
    return await dispatch(name, input, origin)
  }
}

/** What a controller's consoles are told of. */
export function consoleFeed(services: Services, events: EventLog, attention: () => Attention[]): ConsoleFeed {
  const { store, credentials, credentialRooms, outgoing, hub, pool, roomViews, journal, samples, faults } = services
  return new ConsoleFeed({
    hub,
    store,
    pool,
    roomViews,
    devices: outgoing,
    journal,
    samples,
    faults,
    events,
    credentials: () =>
      credentials
        .list()
        .map((credential) => credentials.view(credential, credentialRooms.count(credential.access_key))),
    device: (userId) => outgoing.view(userId),
    attention,
  })
}
