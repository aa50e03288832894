import { computed, reactive, ref, shallowRef } from 'vue'
import type { ProcedureInput, ProcedureOutput } from '../../../../shared/console/contract.ts'
import type { TesterEncoding, TesterOperation } from '../../../../shared/console/tester.ts'
import { answerWithoutSecrets, hideSecrets, secretsOf } from './sentSecrets.ts'
import { sharedState } from '../../composables/useConsole.ts'

type Sending = ProcedureInput<'tester.send'>
type Answer = ProcedureOutput<'tester.send'>

/** One request of this session, with its result. */
export interface Sent {
  seq: number
  at: number
  input: Sending
  answer: Answer | null
  /** Reason of a missing answer. */
  error: unknown
  /** `ret` of the answer; null: missing. */
  ret: number | null
  msg: string
}

export interface TesterForm {
  /** `api/name` of the operation. */
  operation: string
  access_key: string
  method: 'GET' | 'POST'
  encoding: TesterEncoding
  /**
   * Values by name, shared by all operations, so that a room_id is typed only once. `token` is sent under the
   * operation's own name for it.
   */
  values: Record<string, string>
}

const maxSent = 50

export const operationKey = (one: { api: string; name: string }): string => `${one.api}/${one.name}`

/** State of the tester, kept while other pages are open, until the session ends. */
export const useTester = sharedState((client) => {
  const form = reactive<TesterForm>({
    operation: 'media/authenticate',
    access_key: '',
    method: 'GET',
    encoding: 'query',
    values: {},
  })
  const history = shallowRef<readonly Sent[]>([])
  const shown = shallowRef<Sent | null>(null)
  const busy = ref(false)
  let seq = 0

  /** Sends the form's request, and shows and lists the result. */
  async function send(operation: TesterOperation): Promise<void> {
    if (busy.value) return
    busy.value = true
    const input = sendingOf(form, operation)
    const sent: Sent = { seq: ++seq, at: Date.now(), input, answer: null, error: null, ret: null, msg: '' }
    try {
      sent.answer = await client.call('tester.send', input)
      Object.assign(sent, verdict(sent.answer.body))
      remember(form, input, sent.answer.body)
    } catch (error) {
      sent.error = error
    }
    busy.value = false
    history.value = [sent, ...history.value.map(withoutSecrets)].slice(0, maxSent)
    shown.value = sent
  }

  /** Shows an earlier request, and fills the form with its values. */
  function open(sent: Sent): void {
    shown.value = sent
    const { api, operation, access_key = '', method = 'GET', encoding = 'query', params } = sent.input
    Object.assign(form, { operation: operationKey({ api, name: operation }), access_key, method, encoding })
    Object.assign(form.values, params)
  }

  function forget(): void {
    history.value = []
    shown.value = null
  }

  return { form, history: computed(() => history.value), shown, busy, send, open, forget }
})

/** Removes the secrets of an earlier request. It can still be shown and sent again. */
export function withoutSecrets(sent: Sent): Sent {
  const { input, answer } = sent
  const secrets = secretsOf(sent)
  const params = Object.entries(input.params).filter(([, value]) => hideSecrets(value, secrets) === value)
  return {
    ...sent,
    input: { ...input, params: Object.fromEntries(params) },
    answer: answer && {
      ...answer,
      url: hideSecrets(answer.url, secrets),
      request: hideSecrets(answer.request, secrets),
      body: answerWithoutSecrets(answer.body),
    },
  }
}

/** Returns the parameters to send: those of this operation that are not empty. */
function sendingOf(form: TesterForm, operation: TesterOperation): Sending {
  const { api, name } = operation
  const params: Record<string, string> = {}
  for (const parameter of operation.parameters) {
    const value = form.values[parameter.name] ?? ''
    if (value !== '') params[parameter.name] = value
  }
  // With a credential, the controller adds its token.
  const token = form.values.token ?? ''
  if (form.access_key === '' && operation.token !== '' && token !== '') params[operation.token] = token
  const method = operation.methods.includes(form.method) ? form.method : (operation.methods[0] ?? 'GET')
  const encoding = method === 'GET' ? 'query' : form.encoding
  return { api, operation: name, access_key: form.access_key, params, method, encoding }
}

function answered(body: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(body)
    return typeof answer === 'object' && answer !== null ? { ...answer } : {}
  } catch {
    return {}
  }
}

/** Reads `ret` and `msg` of an answer. */
function verdict(body: string): Pick<Sent, 'ret' | 'msg'> {
  const { ret, msg } = answered(body)
  return { ret: typeof ret === 'number' ? ret : null, msg: typeof msg === 'string' ? msg : '' }
}

/** Names of the same parameter in the two APIs. */
const sameThing = [
  ['room_id', 'roomId'],
  ['user_id', 'userId'],
] as const

/** Stores room, user and token of a successful call for the next one. */
function remember(form: TesterForm, { params }: Sending, body: string): void {
  const answer = answered(body)
  if (answer.ret !== 0) return
  for (const names of sameThing) {
    const value = names.map((name) => answer[name] ?? params[name]).find((one) => typeof one === 'string' && one !== '')
    if (typeof value === 'string') for (const name of names) form.values[name] = value
  }
  const { data } = answer
  if (typeof data === 'object' && data !== null && 'accessToken' in data && typeof data.accessToken === 'string')
    form.values.token = data.accessToken
}
