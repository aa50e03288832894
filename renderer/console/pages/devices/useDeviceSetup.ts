import { computed, ref } from 'vue'
import { useConsole } from '../../composables/useConsole.ts'
import { useForm } from '../../composables/useForm.ts'
import { chosenOf, chosenRoom, useChosenRoom } from './chosen-room.ts'
import { atField } from './fieldOfRefusal.ts'
import type { ParsedAddress } from './AddressField.vue'
import { useProbe } from './useProbe.ts'
import { deviceInput, type DeviceView } from '../../../../shared/domain/devices.ts'

export const setupSteps = ['address', 'login', 'probe', 'room', 'done'] as const
export type SetupStep = (typeof setupSteps)[number]

/** Fields of each step; a problem in one of them keeps the operator at the step. */
const fieldsOf: Readonly<Record<SetupStep, readonly string[]>> = {
  address: ['userAddress', 'assist_address'],
  login: ['login_name', 'login_password'],
  probe: [],
  room: ['roomId', 'topic', 'userName', 'userId', 'userData'],
  done: [],
}

/** Validates like the controller. */
const schema = deviceInput.extend(chosenRoom.shape)

/** State of adding a device: values, current step, probe, and the device once it exists. */
export function useDeviceSetup(room = () => '') {
  const client = useConsole()
  const probe = useProbe()
  const step = ref<SetupStep>('address')
  /** Parts of the typed address; null while it is invalid or unknown. */
  const parts = ref<ParsedAddress | null>(null)
  const host = ref('')
  /** Device found on the network, with the name that it reports; null: the address was typed. */
  let found: { address: string; name: string } | null = null
  const foundLogin = ref<{ name: string; password: string } | null>(null)
  const made = ref<DeviceView | null>(null)
  /**
   * Suggested values, and the address to which they belong. A new address gets new suggestions; the operator's own
   * input stays.
   */
  const suggested = { name: '', assist: '', assistOf: '', loginOf: '' }
  /** Substream address when the probe began. */
  let assistBefore = ''
  const withRoom = useChosenRoom()

  /** Room of the previous device, because cameras of one room are often added one after the other. */
  let keptRoom = ''

  const initial = () => ({
    userAddress: '',
    assist_address: '',
    old_tls: false,
    login_name: '',
    login_password: '',
    userName: '',
    userId: '',
    userData: '',
    room: 'existing' as 'existing' | 'fresh',
    roomId: keptRoom || room(),
    topic: '',
  })
  const form = useForm({
    schema,
    initial,
    input: (values) => ({
      userAddress: values.userAddress,
      userName: values.userName,
      userData: values.userData,
      ...(values.userId.trim() === '' ? {} : { userId: values.userId.trim() }),
      ...(values.login_name === '' ? {} : { login_name: values.login_name }),
      ...(values.login_password === '' ? {} : { login_password: values.login_password }),
      ...(values.assist_address.trim() === '' ? {} : { assist_address: values.assist_address }),
      ...(values.old_tls ? { old_tls: true } : {}),
      ...chosenOf(values),
    }),
    async submit({ topic, roomId, ...device }) {
      return withRoom({ topic, roomId }, (room) =>
        atField(() => client.call('devices.create', { ...device, roomId: room })),
      )
    },
    done(device) {
      made.value = device
      step.value = 'done'
    },
  })

  const hasLogin = computed(() => form.values.login_name !== '' || form.values.login_password !== '')

  function parsed(address: ParsedAddress | null): void {
    parts.value = address
    host.value = address?.host ?? ''
  }

  /** Uses the login found in an address. */
  function takeLogin(login: { name: string; password: string }): void {
    foundLogin.value = login
    suggested.loginOf = ''
    form.values.login_name = login.name
    form.values.login_password = login.password
    probe.forget()
  }

  /** Removes a login found in the address of another host. */
  function checkLogin(): void {
    const found = foundLogin.value
    if (found === null) return
    if (suggested.loginOf === '') suggested.loginOf = host.value
    if (suggested.loginOf === host.value) return
    foundLogin.value = null
    const { login_name, login_password } = form.values
    if (login_name === found.name && login_password === found.password)
      Object.assign(form.values, { login_name: '', login_password: '' })
  }

  /** Removes a substream found for another address. */
  function checkAssist(): void {
    const { userAddress, assist_address } = form.values
    if (suggested.assistOf !== userAddress && assist_address !== '' && assist_address === suggested.assist)
      form.values.assist_address = ''
    suggested.assistOf = userAddress
    assistBefore = form.values.assist_address
  }

  function ask(): void {
    checkAssist()
    const { userAddress, login_name, login_password, assist_address, old_tls } = form.values
    void probe.run({ userAddress, login_name, login_password, assist_address, ...(old_tls && { old_tls }) })
  }

  /** Changes to a step. Starts the probe automatically. */
  function go(to: SetupStep): void {
    const { assist_address } = form.values
    if (step.value === 'probe' && assist_address !== assistBefore) suggested.assist = assist_address
    if (step.value === 'probe' && to !== 'room') probe.forget()
    step.value = to
    if (to === 'login') checkLogin()
    if (to === 'probe') ask()
    if (to !== 'room') return
    const { userName, userAddress } = form.values
    const name = found?.address === userAddress ? found.name : host.value
    if (userName === '' || userName === suggested.name) form.values.userName = name
    suggested.name = name
  }

  /** Uses the stream of a found device, and probes it with the login that worked. */
  function takeFound(device: { address: string; host: string; name: string }): void {
    found = device
    form.values.userAddress = device.address
    host.value = device.host
    // The chosen substream belongs to this address.
    Object.assign(suggested, { assistOf: device.address })
    go('probe')
  }

  /** Returns whether the fields of a step are valid; otherwise shows their problems. */
  function complete(which: SetupStep): boolean {
    for (const field of fieldsOf[which]) form.touch(field)
    return fieldsOf[which].every((field) => form.problem(field) === '')
  }

  function next(): void {
    if (!complete(step.value)) return
    const following = setupSteps[setupSteps.indexOf(step.value) + 1]
    if (step.value === 'room') void finish()
    else if (following !== undefined) go(following)
  }

  function back(): void {
    const before = setupSteps[setupSteps.indexOf(step.value) - 1]
    if (before !== undefined) go(before)
  }

  /** Adds the device. If a field is rejected, its step is shown. */
  async function finish(): Promise<void> {
    if (await form.submit()) return
    const wrong = setupSteps.find((one) => fieldsOf[one].some((field) => form.problem(field) !== ''))
    if (wrong !== undefined) step.value = wrong
  }

  function restart(keepRoom = false): void {
    keptRoom = keepRoom ? (made.value?.roomId ?? keptRoom) : ''
    form.reset()
    probe.forget()
    parsed(null)
    found = null
    foundLogin.value = null
    Object.assign(suggested, { name: '', assist: '', assistOf: '', loginOf: '' })
    made.value = null
    step.value = 'address'
  }

  return {
    ...form,
    step,
    parts,
    host,
    foundLogin,
    hasLogin,
    made,
    probe,
    parsed,
    takeLogin,
    takeFound,
    ask,
    go,
    next,
    back,
    restart,
  }
}
