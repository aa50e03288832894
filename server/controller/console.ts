import type { Attention } from '../../shared/console/site.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'
import type { Settings } from '../../shared/settings.ts'
import { Callers, endsSessions } from '../console/callers.ts'
import { ConsoleFeed } from '../console/console-feed.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { refused } from '../console/console-answer.ts'
import { ConsoleKey } from '../console/console-key.ts'
import { ConsoleListener } from '../console/console-listener.ts'
import type { Dispatch, GatedDispatch } from '../console/dispatch.ts'
import { isPassedOnCall } from '../console/passed-on-calls.ts'
import { StaticFiles } from '../edge/static-files.ts'
import { formerTls, type TlsMaterial } from '../edge/tls.ts'
import type { EventSink, SharedEventLog } from '../event-log/event-log.ts'
import { recordSignIns } from '../event-log/sources/access.ts'
import { proven, unproven } from '../gate/gate.ts'
import type { Port } from '../http/listeners.ts'
import type { Leadership } from '../store/store.ts'
import type { GatedPlayback } from '../recordings/playback/playback-handler.ts'
import type { Health } from './health.ts'
import type { OpenedSite } from './open-site.ts'
import type { ControllerOptions } from './options.ts'
import type { Services } from './services.ts'

export interface ConsolePortDependencies {
  options: Pick<ControllerOptions, 'consolePage' | 'dataFolder' | 'logger' | 'accountClock'>
  services: Services
  dispatch: GatedDispatch
  certificate: () => TlsMaterial | undefined
  settings: () => Settings
  health: (known: boolean) => Health
  /** Playback of recordings; undefined: this controller has none. */
  recordings: GatedPlayback | undefined
  signIns: EventSink
  leader: OpenedSite | undefined
}

/** Port of the headless console. */
export interface ConsolePort {
  key: ConsoleKey
  port: Port
  /** Replaces the console key and ends the sessions of the old key. @returns the new key, and its file */
  replaceKey: () => { key: string; file: string }
}

/**
 * Composes the console port; undefined on the desktop, which has its own transport. Changes of accounts or settings
 * immediately end the sessions that they invalidate.
 */
export function openConsolePort(dependencies: ConsolePortDependencies): ConsolePort | undefined {
  const { options, services, settings, leader } = dependencies
  const { consolePage: page, logger } = options
  if (page === undefined) return undefined
  const { store } = services
  const key =
    leader?.consoleKey ?? new ConsoleKey(options.dataFolder, (message) => logger.warn(message), options.accountClock)
  const { accountSessions, accessTokens, signIn } = services.accountAccess
  const port = new ConsoleListener({
    dispatch: dependencies.dispatch,
    leadership: store.leadership,
    hub: services.hub,
    key,
    callers: new Callers(key, store, accountSessions, accessTokens),
    signIn,
    sessions: accountSessions,
    page: new StaticFiles(page),
    logger,
    metrics: () => services.metrics.text(),
    certificate: dependencies.certificate,
    formerTls: () => formerTls(settings(), options.dataFolder),
    publicUrl: () => settings().media.public_url,
    metricsNeedToken: () => settings().console.metrics_token,
    health: dependencies.health,
    recordings: dependencies.recordings,
    signIns: recordSignIns(dependencies.signIns),
    proof: leader?.proof,
    kept: leader?.kept,
    register: leader === undefined ? undefined : (joiner) => leader.member.register(joiner),
  })
  store.onChange(() => port.reviewSessions(), endsSessions)
  const replaceKey = () => {
    const made = key.replace()
    port.reviewSessions()
    return { key: made, file: key.file }
  }
  return { key, port, replaceKey }
}

/**
 * Returns a dispatch that answers only while this controller is confirmed as leader: after a sleep of the machine,
 * another controller may have taken over. `controllers.list` is always answered.
 * @param askLeader forwards a read to the new leader; undefined: the only controller of its site
 */
export function provenDispatch(
  leadership: Pick<Leadership, 'confirmed'>,
  dispatch: Dispatch,
  askLeader?: Dispatch,
): GatedDispatch {
  const confirmed = proven(
    leadership,
    (_view, ...call: Parameters<Dispatch>) => dispatch(...call),
    (error, [name, input, origin]) => {
      const reason = unconfirmed(error)
      const forwards = reason.name === 'leaderChanged' && isPassedOnCall(name) && origin.forLeader !== undefined
      return forwards && askLeader !== undefined ? askLeader(name, input, origin) : refused(reason)
    },
  )
  const each: Dispatch = async (name, ...call) =>
    name === 'controllers.list' ? await dispatch(name, ...call) : await confirmed(name, ...call)
  return unproven('gated inside', each)
}

/** Returns the refusal of a controller whose leadership is not confirmed. */
export function unconfirmed(error: unknown): Refusal {
  // An ApiError does not prove that another controller leads.
  return refusal(error instanceof ApiError ? 'leaderUnconfirmed' : 'leaderChanged')
}

/** Creates the feed of events to the consoles of a controller. */
export function consoleFeed(services: Services, events: SharedEventLog, attention: () => Attention[]): ConsoleFeed {
  const {
    store,
    credentials,
    credentialRooms,
    outgoing,
    hub,
    pool,
    roomViews,
    guests,
    recordings,
    journal,
    samples,
    faults,
  } = services
  return new ConsoleFeed({
    hub,
    store,
    pool,
    roomViews,
    guests,
    recordings,
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
