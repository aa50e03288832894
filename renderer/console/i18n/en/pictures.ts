/** Settings of kept pictures. */
export const pictures = {
  labels: {
    every_minutes: 'Interval (minutes)',
    per_camera: 'Pictures per camera',
    megabytes: 'Disk space (MB)',
    days: 'Days kept',
  },
  hints: {
    every_minutes: '0 = off. Cameras on embedded nodes only.',
    per_camera: 'The oldest are deleted.',
    megabytes: 'Of all cameras together; the oldest are deleted. A picture takes 50 to 300 kB.',
    days: '',
  },
} as const
