/**
 * WHEP viewers on libdatachannel in a process of their own, so that their work is not the node's. Messages: `{open: n}`, `{cycles: n}` and `{count: true}`,
 * each answered with `{viewers, packets}`.
 */
import { WhepPeer } from '../support/media/whep-peer.ts'

const [url = '', token = ''] = process.argv.slice(2)

const viewers: WhepPeer[] = []
/** Of those who came and went. */
let earlierPackets = 0
/** Those who come and go, at a time: each waits for a second now and then, as the library repeats a lost message. */
const atOnce = 10

async function comeAndGo(): Promise<void> {
  const viewer = await WhepPeer.open(url, token)
  await viewer.close()
  earlierPackets += viewer.packets
}

async function handle(message: { open?: number; cycles?: number }): Promise<void> {
  for (let i = 0; i < (message.open ?? 0); i++) viewers.push(await WhepPeer.open(url, token))
  for (let left = message.cycles ?? 0; left > 0; left -= atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, left) }, comeAndGo))
  }
  const packets = viewers.reduce((sum, viewer) => sum + viewer.packets, earlierPackets)
  process.send?.({ viewers: viewers.length, packets })
}

process.on('message', (message: { open?: number; cycles?: number }) => {
  handle(message).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})
process.on('disconnect', () => process.exit(0))
