import { once } from 'node:events'
import { type IncomingMessage, request as send } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import WebSocket from 'ws'
import { signalVersion } from '../../../shared/media/signal.ts'
import { ApiClient } from '../../support/api-client.ts'
import { ControllersSite, credential } from '../../support/sites/controllers-site.ts'

interface Visit {
  /** Address of the visitor. */
  from: string
  headers?: Record<string, string>
}

/** Tries to join the room with an unsigned link. */
async function guess(node: string, room: string, { from, headers = {} }: Visit): Promise<void> {
  const socket = new WebSocket(`${node.replace('http', 'ws')}/signal`, { localAddress: from, headers })
  await once(socket, 'open')
  const token = 'forged.forged.forged'
  socket.send(JSON.stringify({ type: 'join', version: signalVersion, room_id: room, user_name: 'Guess', token }))
  await once(socket, 'message')
  socket.terminate()
}

/** Tries the same by WHIP. */
async function guessByWhip(node: string, room: string, { from, headers = {} }: Visit): Promise<void> {
  const whip = { 'content-type': 'application/sdp', authorization: 'Bearer forged.forged.forged', ...headers }
  const request = send(`${node}/whip/${room}`, { method: 'POST', localAddress: from, headers: whip })
  request.end('v=0\r\n')
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  answer.resume()
}

test('A visitor that a replica forwards to an embedded node is identified by their own address, which cannot be forged', {
  timeout: 30_000,
}, async () => {
  const site = await ControllersSite.start({ controllers: 2, nodes: [{ name: 'here', kind: 'embedded' }] })
  onTestFinished(() => site.remove())
  const leads = await site.leader()
  const follows = site.controllers.find((one) => one !== leads)
  if (follows === undefined) throw new Error('Nobody stands by.')
  const api = new ApiClient(leads.headless.ready, credential)
  await api.authenticate()
  const room = await api.createRoom()
  // Opened on its node.
  await expect.poll(async () => (await api.get('/sdk/get_mcu', { room_id: room })).ret, { timeout: 10_000 }).toBe(0)
  const [straight, passedOn] = [leads.headless.ready.node, follows.headless.ready.node]
  const forged = { 'Roomdesk-Client': '127.0.0.66 1 forged' }
  await guess(passedOn, room, { from: '127.0.0.2' })
  await guessByWhip(passedOn, room, { from: '127.0.0.3' })
  await guess(passedOn, room, { from: '127.0.0.4', headers: forged })
  await guess(straight, room, { from: '127.0.0.5', headers: forged })
  const seen = async (): Promise<string[]> => {
    const { items } = await leads.headless.rpc('activity.list', {})
    return [...new Set(items.map(({ client }) => client))].filter((client) => client !== '127.0.0.1').sort()
  }
  await expect.poll(seen, { timeout: 5_000 }).toEqual(['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'])
})
