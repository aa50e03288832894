/** Baseline of every rate: Koa and @koa/router answering a constant JSON, in a process of its own. Prints its port. */
import type { AddressInfo } from 'node:net'
import Router from '@koa/router'
import Koa from 'koa'

const router = new Router()
router.get('/rtc/room/get', (context) => {
  context.body = { ret: 0, room_id: '123456789', topic: 'Morning meeting' }
})
const server = new Koa().use(router.routes()).listen(0, '127.0.0.1', () => {
  console.log((server.address() as AddressInfo).port)
})
process.on('SIGTERM', () => process.exit(0))
