import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Lets time pass in which something must not happen; the test then checks that it did not. For everything that must
 * happen a test waits for its condition instead.
 */
export const quietTime = (milliseconds: number): Promise<void> => sleep(milliseconds)
