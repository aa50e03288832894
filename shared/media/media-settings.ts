import { z } from 'zod'
import { media } from '../settings/media.ts'
import { partSchema } from '../settings/setting.ts'
import { maxTestCameras, testCameraSpecSchema } from './test-camera.ts'
import { maxTestGroups, testPeopleSpecSchema } from './test-people.ts'

/** Settings of the media part that a node does not use, or receives at its start. */
const ofController = { udp_port: true, public_url: true, open_rooms: true, link_life_ms: true } as const

/** Settings and facts that may change while the node is running. */
export const mediaSettingsSchema = partSchema(media)
  .omit(ofController)
  .extend({
    /** Ports of the controller. Camera addresses on this machine may not use these ports, nor the node's own ports. */
    site_ports: z.array(z.int().min(1).max(65_535)).max(256).default([]),
    /**
     * Addresses of the site's other nodes, and of the node ports of its other controllers, e.g. `http://10.0.0.5:7084`.
     */
    other_nodes: z.array(z.string().max(600)).max(64).default([]),
    /**
     * Origins to which the room page may connect in addition to its own origin: all embedded nodes of the site,
     * including disabled ones, and the node ports of its controllers.
     */
    page_origins: z.array(z.string().max(600)).max(256).default([]),
    /**
     * Time without a report of the leader after which another controller of the site becomes leader, in milliseconds;
     * 0: the site has one controller.
     */
    lease_ms: z.int().min(0).max(60_000).default(0),
    /** Announced restart of the node, in milliseconds since the epoch; 0: none. */
    restarts_at: z.int().min(0).default(0),
    /** Whether hosts may start and stop the recording of their room. */
    hosts_record: z.boolean().default(false),
    /** Whether the room page announces by voice that a room is recorded. */
    recording_aloud: z.boolean().default(true),
    /** Test cameras of the lab that the node runs. */
    test_cameras: z.array(testCameraSpecSchema).max(maxTestCameras).default([]),
    /** Groups of test people of the lab that the node runs. */
    test_people: z.array(testPeopleSpecSchema).max(maxTestGroups).default([]),
  })
export type MediaSettings = z.output<typeof mediaSettingsSchema>
