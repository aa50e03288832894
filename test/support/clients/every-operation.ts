import type * as Kit from '../../../clients/typescript/src/index.ts'

/** Site that the client kit is used with. */
export interface KitSite {
  media: string
  device: string
  accessKey: string
  secretKey: string
  /** Address of a camera. */
  camera: string
  /** Beginning of ids that no other run uses. */
  run: string
}

/**
 * Calls each operation by the client kit. The function is also sent to a page and written into programs as text, so it
 * uses nothing of its module.
 * @returns the answers by the name of the method
 */
export async function everyOperation(kit: typeof Kit, site: KitSite): Promise<Record<string, unknown>> {
  const { accessKey, secretKey, camera, run } = site
  const client = new kit.RoomdeskClient({ ...site, timeoutMs: 20_000 })
  const answers: Record<string, unknown> = {}
  const call = async <N extends Kit.OperationName>(
    name: N,
    parameters: Kit.OperationTypes[N]['parameters'],
  ): Promise<Kit.OperationTypes[N]['answer']> => {
    const answer = await client.call(name, parameters)
    answers[name] = answer
    return answer
  }
  /** Repeats a call while the server refuses it with an error. */
  const until = async <T>(error: Kit.ErrorName, attempt: () => Promise<T>): Promise<T> => {
    for (const end = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 500)))
      try {
        return await attempt()
      } catch (refusal) {
        if (!(refusal instanceof kit.ResultError) || !refusal.is(error) || Date.now() > end) throw refusal
      }
  }

  await call('authenticate', { access_key: accessKey, digest: await kit.sign('sha1-hex', secretKey, accessKey) })
  const given = { topic: 'Morning + 晨会 & more', owner_id: 'kit', room_mode: 1, room_extend_id: `${run}-room` }
  const { room_id } = await call('createRoom', given)
  await call('getRoom', { room_id })
  await call('getRoomByExtendId', { room_extend_id: given.room_extend_id })
  await call('updateRoom', { room_id, topic: 'Evening', attendee_max: 7 })
  await call('getMcu', { room_id, options: '{"ip_tag":"local","idc_code":""}' })
  await call('joinUrl', { room_id, user_id: 'anna', user_name: '安娜', role: 'host' })

  const door = { roomId: room_id, userId: `${run}-door`, userAddress: camera }
  const options = { login_name: '', login_password: '' }
  // A busy machine may start the camera's stream too late.
  await until('joinTimeout', () => call('createOutgoingUser', { ...door, userName: 'Door', userData: '+', options }))
  await call('listOutgoingUsers', { roomId: room_id })
  await call('listUsers', { room_id })
  await call('getUserNumber', { room_id })

  const user = { room_id, user_id: door.userId }
  const from = Date.now() - 60_000
  const recording = await call('recordingStart', { ...user, name: 'Door' })
  const span = { ...user, from, to: from + 3_600_000 }
  await until('recordingNotFound', () => call('recordingLink', span))
  await call('recordingStop', { id: recording.id })
  await call('recordingGet', { id: recording.id })
  await call('recordingList', { room_id, count: 10 })
  await call('recordingDelete', { id: recording.id })

  const live = await call('liveStart', { ...user, name: 'Door live' })
  await call('liveLink', user)
  await call('liveGet', { id: live.id })
  await call('liveList', {})
  await call('liveStop', { id: live.id })
  await call('liveDelete', { id: live.id })

  await call('destroyOutgoingUser', door)
  await until('joinTimeout', () => client.createOutgoingUser({ ...door, userName: 'Door' }))
  await call('forceOffline', user)
  await call('deleteRoom', { room_id })
  answers.refused = await client.getRoom({ room_id }).catch((error: unknown) => {
    if (!(error instanceof kit.ResultError)) throw error
    return { ret: error.ret, message: error.message, isRoomNotFound: error.is('roomNotFound') }
  })
  return answers
}
