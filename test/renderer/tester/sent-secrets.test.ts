import { expect, test } from 'vitest'
import { answerWithoutSecrets, hideSecrets, secretsOf } from '../../../renderer/console/pages/tester/sentSecrets.ts'
import { type Sent, withoutSecrets } from '../../../renderer/console/pages/tester/useTester.ts'

const password = 'p@ss "w/ rd&1'
const token = 'bGl2ZQ=='
const device = {
  roomId: '1',
  userId: 'cam',
  userName: 'Gate',
  userAddress: `rtsp://admin:${password}@10.0.0.9/live`,
  options: JSON.stringify({ login_name: 'admin', login_password: password }),
}
const form = (params: Record<string, string>): string => new URLSearchParams(params).toString()

test.each([
  [
    'in the query',
    `POST /x?${form({ ...device, accessToken: token })} HTTP/1.1\nHost: h`,
    form({ ...device, accessToken: token }),
  ],
  ['in a form', `POST /x HTTP/1.1\nHost: h\n\n${form({ ...device, accessToken: token })}`, ''],
  [
    'in JSON',
    `POST /x HTTP/1.1\nHost: h\n\n${JSON.stringify({ ...device, accessToken: token, options: { login_password: password } })}`,
    '',
  ],
])('what was sent is shown without its secrets: %s', (_way, request, query) => {
  const url = `http://h/x?${query}`
  const input = { api: 'device', operation: 'create_outgoing_user', params: device } as const
  const answer = { request, url, status: 200, headers: {}, body: '{}', milliseconds: 1 }
  const secrets = secretsOf({ input, answer })
  for (const text of [hideSecrets(request, secrets), hideSecrets(`curl '${url}' --data '${request}'`, secrets)]) {
    for (const secret of [password, token]) {
      for (const spelling of [
        secret,
        encodeURIComponent(secret),
        form({ s: secret }).slice(2),
        JSON.stringify(secret).slice(1, -1),
      ])
        expect(text).not.toContain(spelling)
    }
    expect(text).toContain('10.0.0.9')
    expect(text).toContain('******')
  }
  const sent: Sent = { seq: 1, at: 0, input, answer, error: null, ret: 0, msg: '' }
  for (const kept of [withoutSecrets(sent), withoutSecrets({ ...sent, answer: null })]) {
    expect(JSON.stringify(kept)).not.toMatch(/p@ss|p%40ss|bGl2ZQ/)
    expect(kept.input.params).toEqual({ roomId: '1', userId: 'cam', userName: 'Gate' })
  }
})

test('The answer to an earlier request loses its tokens and passwords; an answer without any stays unchanged', () => {
  const answer = {
    ret: 0,
    result: 0,
    data: { accessToken: token },
    host_password: 'r',
    ice_servers: [{ credential: 'c' }],
  }
  const kept = JSON.parse(answerWithoutSecrets(JSON.stringify(answer))) as unknown
  expect(kept).toEqual({
    ...answer,
    data: { accessToken: '******' },
    host_password: '******',
    ice_servers: [{ credential: '******' }],
  })
  for (const body of ['{ "ret": 0, "host_password": "" }', 'null', '/**/test({"ret":0});'])
    expect(answerWithoutSecrets(body)).toBe(body)
})
