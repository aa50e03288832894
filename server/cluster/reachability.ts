import { system } from '../store/system/system.ts'
import { connectToLeader, type LeaderPort } from './leader-connection.ts'

/**
 * Returns the reason why a port of another controller accepts no connection; empty: the port accepts connections. With
 * TLS, the certificate of the port must match, too.
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
