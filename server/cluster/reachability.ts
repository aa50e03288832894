import { system } from '../store/system/system.ts'
import { connectToLeader, type LeaderPort } from './leader-connection.ts'

/**
 * Checks why a port of another controller accepts no connection; empty: it does. With TLS its certificate must match
 * too.
 */
export function leaderUnreachableReason(port: LeaderPort): Promise<string> {
  const { reach } = system()
  if (reach !== undefined) return reach(port.host, port.port)
  return new Promise((resolve) => {
    connectToLeader(port, (error, socket) => {
      socket.destroy()
      resolve(error?.message ?? '')
    })
  })
}
