import { sleep } from '../../../../shared/sleep.ts'

/** Time between two changes of the motion alarm, in milliseconds. */
const changeMs = 5_000
/** Lifetime of a subscription without renewal, and maximum wait of one request, in milliseconds. */
const lifetimeMs = 60_000
const maxWaitMs = 30_000
/** Maximum number of subscriptions; the oldest one ends for a new one. */
const maxSubscriptions = 16
const topic = 'tns1:VideoSource/MotionAlarm'

/** Path of a subscription, followed by its number. */
const subscriptionPath = '/onvif/events/'

interface Subscription {
  endsAt: number
  /** Number of the newest reported state; undefined: none was reported. */
  reported: number | undefined
}

/**
 * Events of a test camera: a motion alarm that changes every five seconds (ONVIF Core Specification, section 9, real-time
 * pull point).
 */
export class MotionEvents {
  readonly #now: () => number
  readonly #subscriptions = new Map<string, Subscription>()
  #numbers = 0

  /** @param now clock of the camera, in milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Returns the content of the answer to an operation; undefined: the camera does not know the operation, or the
   * subscription.
   * @param path path of the request, which names the subscription
   * @param origin `http://host:port`, as the client called the camera
   */
  async answer(operation: string, request: string, path: string, origin: string): Promise<string | undefined> {
    if (operation === 'CreatePullPointSubscription') return this.#create(origin)
    if (operation === 'GetEventProperties') return properties
    const id = path.startsWith(subscriptionPath) ? path.slice(subscriptionPath.length) : ''
    const subscription = this.#subscriptions.get(id)
    if (subscription === undefined || subscription.endsAt <= this.#now()) return undefined
    switch (operation) {
      case 'PullMessages':
        return await this.#pull(subscription, request)
      case 'Renew':
        subscription.endsAt = this.#now() + lifetimeMs
        return `<wsnt:RenewResponse>${this.#times('wsnt', subscription)}</wsnt:RenewResponse>`
      case 'SetSynchronizationPoint':
        subscription.reported = undefined
        return '<tev:SetSynchronizationPointResponse/>'
      case 'Unsubscribe':
        this.#subscriptions.delete(id)
        return '<wsnt:UnsubscribeResponse/>'
      default:
        return undefined
    }
  }

  #create(origin: string): string {
    const [oldest] = this.#subscriptions.keys()
    if (oldest !== undefined && this.#subscriptions.size >= maxSubscriptions) this.#subscriptions.delete(oldest)
    const id = String(++this.#numbers)
    const subscription = { endsAt: this.#now() + lifetimeMs, reported: undefined }
    this.#subscriptions.set(id, subscription)
    const address = `<wsa:Address>${origin}${subscriptionPath}${id}</wsa:Address>`
    return `<tev:CreatePullPointSubscriptionResponse><tev:SubscriptionReference>${address}</tev:SubscriptionReference>${this.#times('wsnt', subscription)}</tev:CreatePullPointSubscriptionResponse>`
  }

  /** Answers with the state that was not reported yet, or waits for the next one. */
  async #pull(subscription: Subscription, request: string): Promise<string> {
    subscription.endsAt = this.#now() + lifetimeMs
    const number = (): number => Math.floor(this.#now() / changeMs)
    if (subscription.reported === number()) {
      const untilChange = changeMs - (this.#now() % changeMs)
      await sleep(Math.min(untilChange, waitOf(request)), { ref: false })
    }
    const state = number()
    const isNew = subscription.reported !== state
    const operation = subscription.reported === undefined ? 'Initialized' : 'Changed'
    subscription.reported = state
    const message = isNew ? notification(state, operation) : ''
    return `<tev:PullMessagesResponse>${this.#times('tev', subscription)}${message}</tev:PullMessagesResponse>`
  }

  #times(prefix: 'tev' | 'wsnt', { endsAt }: Subscription): string {
    const time = (name: string, at: number): string =>
      `<${prefix}:${name}>${new Date(at).toISOString()}</${prefix}:${name}>`
    return `${time('CurrentTime', this.#now())}${time('TerminationTime', endsAt)}`
  }
}

/** Returns the wait that a request allows, such as PT10S, in milliseconds. */
function waitOf(request: string): number {
  const seconds = /Timeout>PT(\d{1,4})(?:\.\d{1,6})?S</.exec(request)?.[1]
  return Math.min(maxWaitMs, seconds === undefined ? maxWaitMs : Number(seconds) * 1_000)
}

/** Returns the message about a state, which is an alarm every other time. */
function notification(state: number, operation: 'Initialized' | 'Changed'): string {
  const source = '<t:Source><t:SimpleItem Name="Source" Value="source"/></t:Source>'
  const data = `<t:Data><t:SimpleItem Name="State" Value="${state % 2 === 1}"/></t:Data>`
  const time = new Date(state * changeMs).toISOString()
  const dialect = 'http://www.onvif.org/ver10/tev/topicExpression/ConcreteSet'
  return `<wsnt:NotificationMessage><wsnt:Topic Dialect="${dialect}">${topic}</wsnt:Topic><wsnt:Message><t:Message UtcTime="${time}" PropertyOperation="${operation}">${source}${data}</t:Message></wsnt:Message></wsnt:NotificationMessage>`
}

const item = (kind: string, name: string, type: string): string =>
  `<t:${kind}><t:SimpleItemDescription Name="${name}" Type="${type}"/></t:${kind}>`
const properties = `<tev:GetEventPropertiesResponse><tev:TopicNamespaceLocation>http://www.onvif.org/onvif/ver10/topics/topicns.xml</tev:TopicNamespaceLocation><wsnt:FixedTopicSet>true</wsnt:FixedTopicSet><wstop:TopicSet><tns1:VideoSource><MotionAlarm wstop:topic="true"><t:MessageDescription IsProperty="true">${item('Source', 'Source', 't:ReferenceToken')}${item('Data', 'State', 'xs:boolean')}</t:MessageDescription></MotionAlarm></tns1:VideoSource></wstop:TopicSet></tev:GetEventPropertiesResponse>`
