import { controllerFaults } from './faults/controller-faults.ts'
import { databaseFaults } from './faults/database-faults.ts'
import type { Fault } from './faults/fault.ts'

/** All faults of a site in a database. */
export const faults: readonly Fault[] = [...controllerFaults, ...databaseFaults]
