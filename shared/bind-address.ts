/** Addresses of this machine that no other machine can reach. */
export const loopback = /^(127\.|localhost$|\[?::1\]?$)/

/** Whether other machines can connect to a port at this address. */
export function leavesMachine(host: string): boolean {
  return !loopback.test(host)
}
